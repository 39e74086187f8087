import asyncio
from decimal import Decimal

import asyncpg
import pytest

from app.kit.errors import Unavailable
from app.store.connections import Store, open_store, prepare
from app.store.transaction import Write
from scripts.services import Services
from tests.support import databases
from tests.support.eventually import eventually


async def test_no_database_is_unavailable() -> None:
    with pytest.raises(Unavailable) as refusal:
        await open_store("postgresql://postgres@127.0.0.1:1/nothing", 1)
    assert refusal.value.retry_after == 1


async def test_a_database_that_does_not_exist_yet_is_unavailable(services: Services) -> None:
    with pytest.raises(Unavailable, match="matchfeed migrate"):
        await open_store(databases.named(services.database_url, "never_migrated"), 1)


async def test_an_error_rolls_back_and_passes(store: Store) -> None:
    with pytest.raises(ConnectionResetError):
        async with store.transaction() as tx:
            await tx.execute("INSERT INTO worker_beat VALUES ('w', 'feed', 1)")
            raise ConnectionResetError("of something else than the database")
    assert await beats(store) == 0


async def test_a_session_ended_by_the_server_is_unavailable_and_replaced(store: Store) -> None:
    with pytest.raises(Unavailable):
        async with store.transaction() as tx:
            own = await tx.value("SELECT pg_backend_pid()")
            async with store.autocommit() as other:
                await other.execute("SELECT pg_terminate_backend($1)", own)
            await tx.value("SELECT 1")
    async with store.transaction() as tx:
        assert await tx.value("SELECT 1") == 1


async def test_an_idle_transaction_is_rolled_back(store: Store) -> None:
    """A stopped process must not keep its locks: the server ends its session."""
    async with store.autocommit() as tx:
        assert await tx.value("SHOW idle_in_transaction_session_timeout") == "5s"
        assert await tx.value("SHOW lock_timeout") == "10s"


@pytest.fixture
def cannot_roll_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server does not answer a ROLLBACK in time."""
    execute = asyncpg.Connection.execute

    async def slow(connection: asyncpg.Connection, sql: str, *args: object, **options: object) -> str:
        if sql == "ROLLBACK":
            raise TimeoutError
        status: str = await execute(connection, sql, *args, **options)
        return status

    monkeypatch.setattr(asyncpg.Connection, "execute", slow)


@pytest.fixture
def cannot_be_released(monkeypatch: pytest.MonkeyPatch) -> None:
    async def reset(connection: asyncpg.Connection, *, timeout: float | None = None) -> None:
        raise TimeoutError

    monkeypatch.setattr(asyncpg.Connection, "reset", reset)


async def beats(store: Store) -> int:
    async with store.autocommit() as tx:
        count: int = await tx.value("SELECT count(*) FROM worker_beat")
        return count


async def cancelled_in_a_transaction(store: Store) -> None:
    """Cancel a task within a transaction; it must end so, or a task that tries again never ends."""
    waiting = asyncio.Event()

    async def work() -> None:
        async with store.transaction() as tx:
            await tx.execute("INSERT INTO worker_beat VALUES ('w', 'feed', 1)")
            waiting.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelling_frees_the_connection(store: Store) -> None:
    for _ in range(12):  # more than the pool has
        await cancelled_in_a_transaction(store)
    assert await beats(store) == 0


@pytest.mark.usefixtures("cannot_roll_back")
async def test_a_cancelled_task_ends_although_its_connection_cannot_roll_back(store: Store) -> None:
    for _ in range(12):
        await cancelled_in_a_transaction(store)
    await eventually(lambda: beats(store), lambda count: count == 0)


@pytest.mark.usefixtures("cannot_roll_back")
async def test_an_error_passes_although_its_connection_cannot_roll_back(store: Store) -> None:
    with pytest.raises(KeyError):
        async with store.transaction():
            raise KeyError("the block's own")
    assert await beats(store) == 0


@pytest.mark.usefixtures("cannot_be_released")
async def test_a_cancelled_task_ends_although_its_connection_cannot_be_released(store: Store) -> None:
    for _ in range(12):
        await cancelled_in_a_transaction(store)
    assert await beats(store) == 0


@pytest.mark.usefixtures("cannot_be_released")
async def test_what_was_committed_succeeds_although_its_connection_cannot_be_released(store: Store) -> None:
    """A caller that was given an error would do it again."""
    async with store.transaction() as tx:
        await tx.execute("INSERT INTO worker_beat VALUES ('w', 'feed', 1)")
    assert await beats(store) == 1


async def test_a_snapshot_sees_one_moment_and_writes_nothing(store: Store) -> None:
    async with store.snapshot() as tx:
        assert await tx.value("SELECT count(*) FROM worker_beat") == 0
        async with store.transaction() as other:
            await other.execute("INSERT INTO worker_beat VALUES ('w', 'feed', 1)")
        assert await tx.value("SELECT count(*) FROM worker_beat") == 0


async def test_a_pooled_connection_costs_no_round_trip_of_its_own(store: Store) -> None:
    """A query between two uses of a connection would be a round trip more for every request."""
    queries: list[str] = []
    async with store.autocommit() as tx:
        tx.connection.add_query_logger(lambda record: queries.append(record.query))
        await tx.value("SELECT 1")
    async with store.autocommit() as tx:
        await tx.value("SELECT 2")
    assert queries == ["SELECT 1", "SELECT 2"]


async def test_an_open_transaction_does_not_reach_the_next_user(store: Store) -> None:
    async with store.autocommit() as tx:
        await tx.execute("BEGIN")
        await tx.execute("INSERT INTO worker_beat VALUES ('w', 'feed', 1)")
    assert await beats(store) == 0


@pytest.mark.parametrize("kind", ["transaction", "snapshot"])
async def test_a_transaction_cancelled_as_it_begins_or_ends_is_rolled_back(store: Store, kind: str) -> None:
    """At any turn of the loop: the next user finds no transaction, and nobody complains of one."""
    complaints: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context["message"]))

    async def work() -> None:
        async with getattr(store, kind)() as tx:
            await tx.value("SELECT 1")

    for turns in range(150):
        task = asyncio.create_task(work())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        async with store.autocommit() as tx:
            assert not tx.connection.is_in_transaction()
    loop.set_exception_handler(None)
    assert complaints == []


async def test_statements_written_together_are_one_round_trip(store: Store) -> None:
    """As many as ten parameters, so that the numbers of one are not mistaken for the beginning of
    another's."""
    insert = "INSERT INTO worker_beat (worker, kind, at) VALUES ($1, $2, $3)"
    late = "INSERT INTO worker_beat (worker, kind, at) SELECT $4, $2, $1::bigint + $3::bigint RETURNING at"
    queries: list[str] = []
    async with store.transaction() as tx:
        tx.connection.add_query_logger(lambda record: queries.append(record.query))
        await tx.write([Write(insert, (name, "feed", at)) for at, name in enumerate("abc")])
        await tx.write([Write(late, (5, "ingest", 6, "d")), *(Write(insert, (n, "x", 9)) for n in "efgh")])
        await tx.write([Write(insert, ("i", "x", 9))])
        await tx.write([])
    assert len(queries) == 4, queries  # with the commit
    async with store.autocommit() as tx:
        rows = await tx.fetch("SELECT worker, kind, at FROM worker_beat ORDER BY worker")
    assert [tuple(row.values()) for row in rows] == [
        *(("a", "feed", 0), ("b", "feed", 1), ("c", "feed", 2), ("d", "ingest", 11)),
        *(("e", "x", 9), ("f", "x", 9), ("g", "x", 9), ("h", "x", 9), ("i", "x", 9)),
    ]


async def test_of_statements_written_together_all_count_or_none(store: Store) -> None:
    insert = Write("INSERT INTO worker_beat (worker, kind, at) VALUES ($1, $2, $3)", ("a", "feed", 1))
    with pytest.raises(asyncpg.UniqueViolationError):
        async with store.transaction() as tx:
            await tx.write([insert, insert])
    assert await beats(store) == 0


async def test_types_of_postgresql_are_queried_once_and_a_databases_own_each_time(store: Store) -> None:
    values = {"bigint": [2**40, -1], "text": ["a", ""], "numeric": [Decimal("1.50")], "json": [b"{}"]}
    async with store.autocommit() as tx:
        await tx.execute("CREATE TYPE colour AS ENUM ('red')")
    queries: list[str] = []
    for _ in range(2):
        connection = await store.dedicated()
        await prepare(connection)
        queries.clear()
        connection.add_query_logger(lambda query: queries.append(query.query))
        for name, value in values.items():
            assert await connection.fetchval(f"SELECT $1::{name}[]", value) == value
        assert await connection.fetchval("SELECT ARRAY['red']::colour[]") == ["red"]
        await connection.close()
    about_types = [each for each in queries if "typeinfo_tree" in each]
    assert len(about_types) == 1, queries
