import asyncio

import pytest

from app.kit.errors import Unavailable
from app.store.connections import Store, open_store

pytestmark = pytest.mark.anyio


async def test_no_database_is_unavailable() -> None:
    with pytest.raises(Unavailable) as refusal:
        await open_store("postgresql://postgres@127.0.0.1:1/nothing", 1)
    assert refusal.value.retry_after == 1


async def test_an_error_rolls_back_and_passes(store: Store) -> None:
    with pytest.raises(ConnectionResetError):
        async with store.transaction() as tx:
            await tx.execute("INSERT INTO worker_beat VALUES ('w', 'feed', 1)")
            raise ConnectionResetError("of something else than the database")
    async with store.reading() as tx:
        assert await tx.value("SELECT count(*) FROM worker_beat") == 0


async def test_a_session_ended_by_the_server_is_unavailable_and_replaced(store: Store) -> None:
    with pytest.raises(Unavailable):
        async with store.transaction() as tx:
            own = await tx.value("SELECT pg_backend_pid()")
            async with store.reading() as other:
                await other.execute("SELECT pg_terminate_backend($1)", own)
            await tx.value("SELECT 1")
    async with store.transaction() as tx:
        assert await tx.value("SELECT 1") == 1


async def test_whoever_stands_still_in_a_transaction_is_rolled_back(store: Store) -> None:
    """A stopped process must not keep its locks: the server ends its session."""
    async with store.reading() as tx:
        assert await tx.value("SHOW idle_in_transaction_session_timeout") == "5s"
        assert await tx.value("SHOW lock_timeout") == "10s"


async def test_cancelling_frees_the_connection(store: Store) -> None:
    async def wait_for_ever() -> None:
        async with store.transaction() as tx:
            await tx.execute("INSERT INTO worker_beat VALUES ('w', 'feed', 1)")
            await asyncio.Event().wait()

    for _ in range(12):
        task = asyncio.create_task(wait_for_ever())
        await asyncio.wait({task}, timeout=0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with store.reading() as tx:
        assert await tx.value("SELECT count(*) FROM worker_beat") == 0


async def test_a_snapshot_sees_one_moment_and_writes_nothing(store: Store) -> None:
    async with store.snapshot() as tx:
        assert await tx.value("SELECT count(*) FROM worker_beat") == 0
        async with store.transaction() as other:
            await other.execute("INSERT INTO worker_beat VALUES ('w', 'feed', 1)")
        assert await tx.value("SELECT count(*) FROM worker_beat") == 0
