"""Which sessions are ended because they have waited for the rest of a statement."""

import asyncio

import asyncpg
import pytest

from app.store.connections import Store
from app.store.stalled_sessions import end_stalled
from tests.support.databases import waiting
from tests.support.eventually import eventually
from tests.support.stalled import stalled
from tests.support.story import Story

LOCK = "SELECT 1 FROM match FOR UPDATE"
LOCK_AT_ONCE = f"{LOCK} NOWAIT"


async def test_one_with_a_part_of_a_statement_is_ended_and_its_locks_are_free(
    store: Store, story: Story
) -> None:
    await story.match()
    async with stalled(store, LOCK) as session:
        with pytest.raises(asyncpg.LockNotAvailableError):
            async with store.autocommit() as tx:
                await tx.execute(LOCK_AT_ONCE)
        assert await end_stalled(store, 0) == 1
        await eventually(session.is_closed)
    async with store.autocommit() as tx:
        assert await tx.execute(LOCK_AT_ONCE) == 1
    assert await end_stalled(store, 0) == 0


async def test_postgresql_does_not_end_it(store: Store) -> None:
    """Neither of its timeouts applies: otherwise `end_stalled` would not be needed."""
    timeouts = "SET LOCAL idle_in_transaction_session_timeout = 100", "SET LOCAL statement_timeout = 100"
    async with stalled(store, *timeouts) as session, store.autocommit() as tx:
        await tx.execute("SELECT pg_sleep(0.5)")
        assert not session.is_closed()


async def test_no_other_is_ended(store: Store, story: Story, database_url: str) -> None:
    await story.match()
    idle, busy, blocked = [await store.dedicated() for _ in range(3)]
    foreign = await asyncpg.connect(database_url)
    try:
        await idle.execute("BEGIN")
        await idle.execute(LOCK)
        working = asyncio.create_task(busy.execute("SELECT pg_sleep(60)"))
        lock = asyncio.create_task(blocked.execute(LOCK))
        await eventually(lambda: waiting(store))
        await foreign.execute("BEGIN")
        await foreign.prepare("SELECT $1::int")
        assert await end_stalled(store, 0) == 0
        async with stalled(store):
            assert await end_stalled(store, 5) == 0
        await idle.execute("COMMIT")
        await lock
        assert not working.done() and not foreign.is_closed()
    finally:
        for connection in (idle, busy, blocked, foreign):
            connection.terminate()
    with pytest.raises(asyncpg.ConnectionDoesNotExistError):
        await working
