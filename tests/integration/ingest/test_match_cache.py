"""A worker reads a match and its markets again only when others have written them: then always."""

import asyncio
from collections.abc import AsyncIterator
from itertools import cycle
from uuid import UUID

import pytest
from msgspec.structs import replace

from app.commands import match_commands as c
from app.domain.market import Book
from app.domain.match import Match
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig, apply_batch
from app.ingest.match_checks import reprice_due
from app.kit.errors import Unavailable
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.store import markets, matches
from app.store.connections import Store, open_store
from app.store.transaction import Tx
from tests.integration.ingest.conftest import CONFIG, NOW, Server
from tests.support import logs
from tests.support.clocks import ManualClock
from tests.support.databases import end_sessions, waiting
from tests.support.eventually import eventually, succeeds
from tests.support.matches import create_match, execute
from tests.support.season import batches

LINES_A_BATCH = 80
PATIENT = IngestConfig(silence_live_millis=60_000)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """The store of a process that caches no matches."""
    async with await open_store(database_url, 2) as store:
        yield store


@pytest.fixture
async def worker(database_url: str) -> AsyncIterator[Store]:
    async with await open_store(database_url, 2, 4) as worker:
        yield worker


@pytest.fixture
async def server(worker: Store, match: Match) -> Server:
    """In its first round; the worker applies its batches."""
    server = Server(worker, match)
    await server.begin()
    return server


@pytest.fixture
async def other_worker(database_url: str) -> AsyncIterator[Store]:
    async with await open_store(database_url, 2, 4) as worker:
        yield worker


@pytest.fixture
async def simulated(store: Store) -> list[Batch]:
    """The batches of the whole log of a simulated match, for the match that they name."""
    home, away = fictional_world().teams[:2]
    log, _ = simulate(MatchPlan(home, away, 11, NOW, brief=True))
    match = await made(store, home.name, away.name)
    return list(batches(match, log, NOW, LINES_A_BATCH, "run"))


async def made(store: Store, home: str = logs.HOME, away: str = logs.AWAY) -> Match:
    return await create_match(store, NOW, home=home, away=away, scheduled_at=NOW)


def is_cached(tx: Tx, match_id: UUID) -> bool:
    """Whether the transaction, which has locked the match, needs not read its markets."""
    assert tx.cache
    return tx.cache.book(match_id) is not None


async def seen(store: Store, match_id: UUID) -> tuple[Match, Book, bool]:
    """What a transaction sees that locks the match; whether from its cache."""
    async with store.transaction() as tx:
        match = await matches.lock(tx, match_id)
        return match, await markets.book(tx, match_id), is_cached(tx, match_id)


async def stored(store: Store, match_id: UUID) -> tuple[Match, Book]:
    """What the database has."""
    async with store.autocommit() as tx:
        match = await matches.get(tx, match_id)
        assert match is not None
        return match, await markets.book(tx, match_id)


def text(state: tuple[Match, Book]) -> tuple[str, list[str]]:
    """To the last digit and type, which equality does not see; a book in any order."""
    match, book = state
    return repr(match), sorted(map(repr, book.values()))


async def assert_fresh(worker: Store, store: Store, match_id: UUID, *, cached: bool) -> None:
    match, book, from_cache = await seen(worker, match_id)
    assert text((match, book)) == text(await stored(store, match_id))
    assert from_cache is cached


async def test_what_is_cached_is_what_the_database_has(
    worker: Store, store: Store, simulated: list[Batch]
) -> None:
    for batch in simulated:
        assert await apply_batch(worker, batch, batch.arrived_at, CONFIG) == "applied"
        await reprice_due(worker, ManualClock(batch.arrived_at + 500), CONFIG)
        match, _ = await stored(store, batch.match_id)
        await assert_fresh(worker, store, batch.match_id, cached=not match.over)


async def test_an_operators_command_between_two_batches_is_seen(
    worker: Store, store: Store, match: Match, server: Server
) -> None:
    await assert_fresh(worker, store, match.id, cached=True)
    command = c.Suspend(reason="a check")
    await execute(store, match, command, server.now, by="trader")
    await assert_fresh(worker, store, match.id, cached=False)
    await server.send(logs.kill(logs.CT[0], logs.T[1]))
    after, book = await stored(store, match.id)
    assert after.suspended == "a check"
    assert {market.status.name for market in book.values()} <= {"SUSPENDED", "SETTLED"}
    await assert_fresh(worker, store, match.id, cached=True)


async def test_workers_in_turn_each_see_what_the_others_wrote(
    worker: Store, other_worker: Store, store: Store, simulated: list[Batch]
) -> None:
    """A partition moves from worker to worker, and each has an older state of the match in its cache."""
    turns = cycle((worker, other_worker, worker, worker, other_worker, store))
    for batch, turn in zip(simulated, turns, strict=False):
        expected = text(await stored(store, batch.match_id))
        async with turn.transaction() as tx:
            match = await matches.lock(tx, batch.match_id)
            assert text((match, await markets.book(tx, batch.match_id))) == expected
        assert await apply_batch(turn, batch, batch.arrived_at, CONFIG) == "applied"


async def test_what_was_rolled_back_is_not_cached(
    worker: Store, store: Store, match: Match, server: Server
) -> None:
    before = text(await stored(store, match.id))
    late = server.cut(logs.kill(logs.CT[0], logs.T[1]))
    with pytest.raises(ZeroDivisionError):
        async with worker.transaction() as tx:
            locked = await matches.lock(tx, match.id)
            matches.note_written(tx, replace(locked, home="Others"), {})
            raise ZeroDivisionError
    assert text((await seen(worker, match.id))[:2]) == before
    await assert_fresh(worker, store, match.id, cached=True)
    assert await apply_batch(worker, late, late.arrived_at, CONFIG) == "applied"


async def test_a_lock_that_had_to_be_waited_for_shows_what_the_other_wrote(
    worker: Store, store: Store, match: Match, server: Server
) -> None:
    """The row is compared as it is under the lock, not as it was when the wait began."""
    async with store.transaction() as other:
        await matches.lock(other, match.id)
        locking = asyncio.create_task(seen(worker, match.id))
        await eventually(lambda: waiting(store))
        changed = replace((await stored(store, match.id))[0], home="Others")
        await other.write([matches.save_statement(changed)])
    locked, book, from_cache = await locking
    assert (locked.home, from_cache) == ("Others", False)
    assert text((locked, book)) == text(await stored(store, match.id))


async def test_a_price_that_time_moved_in_another_worker_is_seen(
    worker: Store, other_worker: Store, store: Store, match: Match, server: Server
) -> None:
    async with store.autocommit() as tx:
        due: int = await tx.value("SELECT reprice_at FROM match WHERE id = $1", match.id)
    assert await reprice_due(other_worker, ManualClock(due), PATIENT) == 1
    await assert_fresh(worker, store, match.id, cached=False)
    await assert_fresh(other_worker, store, match.id, cached=True)


async def test_nothing_is_cached_beyond_a_lost_connection(
    worker: Store, store: Store, match: Match, server: Server
) -> None:
    """A server that comes back may be another one, which assigns numbers of transactions again."""
    await assert_fresh(worker, store, match.id, cached=True)
    await end_sessions(store)
    await eventually(lambda: succeeds(worker.check(), Unavailable))
    await assert_fresh(worker, store, match.id, cached=False)


async def test_a_match_that_is_over_is_not_cached(
    worker: Store, store: Store, match: Match, server: Server
) -> None:
    await execute(worker, match, c.Cancel(), server.now, by="trader")
    await assert_fresh(worker, store, match.id, cached=False)


async def test_only_the_matches_used_last_are_cached(database_url: str, store: Store) -> None:
    async with await open_store(database_url, 1, 2) as worker:
        played = [await made(store) for _ in range(3)]
        first, second, third = (Server(worker, match) for match in played)
        await first.send(*logs.kick_off())
        await second.send(*logs.kick_off())
        await first.send(*logs.live())
        await third.send(*logs.kick_off())
        assert [(await seen(worker, one.id))[2] for one in played] == [True, False, True]
