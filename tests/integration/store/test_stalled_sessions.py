"""Which sessions are ended because they wait for their client in the middle of a statement."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import asyncpg
import pytest

from app.store.connections import Store
from app.store.server_state import StalledSessions
from tests.support.databases import waiting
from tests.support.eventually import eventually
from tests.support.stalled import not_reading, stalled
from tests.support.story import Story

LOCK = "SELECT 1 FROM match FOR UPDATE"
LOCK_AT_ONCE = f"{LOCK} NOWAIT"
FOR_CLIENT = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'"
    " AND wait_event = 'Client%s'"
)


async def _count(store: Store, statement: str) -> int:
    async with store.autocommit() as tx:
        count: int = await tx.value(statement)
    return count


async def _ended(store: Store, sessions: StalledSessions, *looks: float) -> list[int]:
    """How many sessions each look ended, at these seconds."""
    async with store.autocommit() as tx:
        return [await sessions.look(tx, at) for at in looks]


@pytest.mark.parametrize(("stopped", "event"), [(stalled, "Read"), (not_reading, "Write")])
async def test_one_that_waits_is_ended_and_its_locks_are_free(
    store: Store,
    story: Story,
    stopped: Callable[..., AbstractAsyncContextManager[asyncpg.Connection]],
    event: str,
) -> None:
    await story.match()
    sessions = StalledSessions()
    async with stopped(store, LOCK):
        await eventually(lambda: _count(store, FOR_CLIENT % event))
        with pytest.raises(asyncpg.LockNotAvailableError):
            await _count(store, LOCK_AT_ONCE)
        assert await _ended(store, sessions, 0, 4.9, 5) == [0, 0, 1]
        await eventually(lambda: _count(store, FOR_CLIENT % event), lambda n: not n)
    assert await _count(store, LOCK_AT_ONCE) == 1
    assert await _ended(store, sessions, 10, 20) == [0, 0]


async def test_postgresql_does_not_end_it(store: Store) -> None:
    """Neither of its timeouts applies: otherwise this would not be needed."""
    timeouts = "SET LOCAL idle_in_transaction_session_timeout = 100", "SET LOCAL statement_timeout = 100"
    async with stalled(store, *timeouts) as session, store.autocommit() as tx:
        await tx.execute("SELECT pg_sleep(0.5)")
        assert not session.is_closed()


async def test_one_that_goes_on_is_not_ended(store: Store) -> None:
    """Even if it waits again at the next look."""
    sessions = StalledSessions()
    async with stalled(store) as session:
        await eventually(lambda: _count(store, FOR_CLIENT % "Read"))
        assert await _ended(store, sessions, 0) == [0]
        await session.fetch("SELECT $1::text", "more")
        await session.prepare("SELECT $1::bigint")
        await eventually(lambda: _count(store, FOR_CLIENT % "Read"))
        assert await _ended(store, sessions, 5, 9) == [0, 0]
        assert await _ended(store, sessions, 10) == [1]


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
        assert await _ended(store, StalledSessions(), 0, 60) == [0, 0]
        await idle.execute("COMMIT")
        await lock
        assert not working.done() and not foreign.is_closed()
    finally:
        for connection in (idle, busy, blocked, foreign):
            connection.terminate()
    with pytest.raises(asyncpg.ConnectionDoesNotExistError):
        await working
