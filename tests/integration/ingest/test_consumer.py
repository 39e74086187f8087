"""Batches that cannot be applied, and a database that is unavailable."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace
from prometheus_client import REGISTRY

from app.domain.doubts import LOG_GAP
from app.ingest import cs2log, lost_lines, worker
from app.ingest import log_update as applying
from app.ingest.consumer import Consumer
from app.ingest.lost_lines import ATTEMPTS
from app.kit.errors import Unavailable
from app.store import log_state
from app.store.alerts import AlertKind
from app.store.connections import Store
from app.store.log_state import LogState
from app.store.transaction import Tx
from tests.integration.ingest.conftest import CONFIG, Addressed, Server
from tests.support import logs, stored

POISON = b"poison"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """All bodies that were parsed; one that contains poison raises an error."""
    seen: list[bytes] = []
    read = cs2log.read

    def bitten(body: bytes, arrived_at: int) -> cs2log.Reading:
        seen.append(body)
        if POISON in body:
            raise RuntimeError("bitten")
        return read(body, arrived_at)

    monkeypatch.setattr(cs2log, "read", bitten)
    return seen


@pytest.fixture
async def consumer(store: Store, server: Server, reads: list[bytes]) -> Consumer:
    """Of the batches of a match in its first round."""
    await server.begin()
    return Consumer(store, CONFIG, lambda: server.now)


async def test_a_poison_batch_is_parked_and_its_match_suspended(
    store: Store, server: Server, consumer: Consumer, reads: list[bytes]
) -> None:
    poison = server.cut(POISON.decode())
    await consumer.handle(poison)
    assert reads.count(poison.body) == ATTEMPTS
    async with store.autocommit() as tx:
        (parked,) = await tx.fetch("SELECT message, body, error FROM log_parked")
    assert tuple(parked.values()) == (poison.id, poison.body, "RuntimeError('bitten')")
    assert (await server.state()).suspended == LOG_GAP
    assert await worker.nothing_parked(store) != worker.OK
    await check_play_goes_on(consumer, server)


async def test_a_parked_batch_that_comes_again_is_a_repeat(
    server: Server, consumer: Consumer, reads: list[bytes]
) -> None:
    poison = server.cut(POISON.decode())
    await consumer.handle(poison)
    await consumer.handle(poison)
    assert reads.count(poison.body) == ATTEMPTS


async def test_a_parked_batch_that_begins_another_log_is_followed_by_the_rest_of_it(
    server: Server, consumer: Consumer
) -> None:
    """Its sender counts from byte 0 again."""
    server.offset = 0
    await consumer.handle(server.cut(POISON.decode()))
    await check_play_goes_on(consumer, server)


async def check_play_goes_on(consumer: Consumer, server: Server) -> None:
    """The result of the round and the next freeze time end the doubt."""
    await consumer.handle(server.cut(*logs.ct_win(1, 0)))
    await consumer.handle(server.cut(*logs.freeze(1, 0)))
    state = await server.state()
    assert (state.suspended, state.maps[0].home_score) == ("", 1)


@pytest.mark.parametrize("filled", ["by the batch between", "by nothing in time"])
async def test_a_pending_range_that_cannot_be_applied_is_parked_alone(
    store: Store, server: Server, consumer: Consumer, filled: str
) -> None:
    """The batch for which it waited is applied, and so are those behind it."""
    between = server.cut(logs.kill(logs.CT[1], logs.T[1]))
    poison = server.cut(POISON.decode())
    behind = server.cut(logs.kill(logs.CT[2], logs.T[2]))
    await consumer.handle(behind)
    await consumer.handle(poison)
    if filled == "by the batch between":
        await consumer.handle(between)
        kills = 3
    else:
        assert await lost_lines.skip_missing(store, server.now + CONFIG.gap_millis + 1, CONFIG) == 1
        kills = 2
    async with store.autocommit() as tx:
        (parked,) = await tx.fetch("SELECT match_id, body, error FROM log_parked")
        assert await log_state.pending(tx, server.match.id) == []
    assert await server.kills() == kills
    assert tuple(parked.values()) == (server.match.id, poison.body, "RuntimeError('bitten')")
    (alert,) = await stored.open_alerts(store, AlertKind.PARKED_BATCH)
    assert alert.match_id == server.match.id
    assert (await server.state()).suspended == LOG_GAP
    await check_play_goes_on(consumer, server)


async def test_a_batch_that_cannot_be_applied_is_parked_and_not_the_range_that_waited_for_it(
    store: Store, server: Server, consumer: Consumer
) -> None:
    poison = server.cut(POISON.decode())
    await consumer.handle(server.cut(logs.kill(logs.CT[2], logs.T[2])))
    await consumer.handle(poison)
    async with store.autocommit() as tx:
        (parked,) = await tx.fetch("SELECT message FROM log_parked")
        assert await log_state.pending(tx, server.match.id) == []
    assert await server.kills() == 2
    assert parked["message"] == poison.id


async def test_a_parked_batch_of_a_refused_sender_moves_nothing(
    store: Store, server: Server, reads: list[bytes]
) -> None:
    followed = Addressed(server, "run", "203.0.113.5:27015")
    await followed.begin()
    rival = Addressed(followed, "rival", "203.0.113.9:27015")
    consumer = Consumer(store, CONFIG, lambda: followed.now)
    poison = rival.cut(POISON.decode())

    async def position() -> LogState:
        async with store.autocommit() as tx:
            return await log_state.get(tx, server.match.id)

    before = await position()
    await consumer.handle(poison)
    async with store.autocommit() as tx:
        (parked,) = await tx.fetch("SELECT message FROM log_parked")
    assert parked["message"] == poison.id
    assert (await position(), (await followed.state()).suspended) == (before, "")
    await followed.send(logs.kill(logs.CT[1], logs.T[1]))
    assert (await position()).next_offset == followed.offset


async def test_the_next_run_of_the_server_is_followed_after_its_parked_first_batch(
    store: Store, server: Server, reads: list[bytes]
) -> None:
    first = Addressed(server, "run", "203.0.113.5:27015")
    await first.begin()
    restarted = Addressed(first, "restarted", first.address)
    consumer = Consumer(store, CONFIG, lambda: restarted.now)
    await consumer.handle(restarted.cut(POISON.decode()))
    assert (await restarted.state()).suspended == LOG_GAP
    await restarted.send(*logs.freeze(0, 0))
    assert (await restarted.state()).suspended == ""


async def test_other_matches_go_on(store: Store, server: Server, consumer: Consumer) -> None:
    gone = replace(server.cut("x"), match_id=server.match.id.__class__(int=1))
    await consumer.handle(gone)
    async with store.autocommit() as tx:
        assert await log_state.parked_count(tx) == 0


async def test_a_database_that_is_away_costs_no_line(store: Store, server: Server) -> None:
    await server.begin()
    shot = server.cut(logs.kill(logs.CT[1], logs.T[1]))
    flaky = Flaky(store, failures=3)
    await Consumer(flaky, CONFIG, lambda: server.now).handle(shot)
    assert flaky.failures == 0
    assert await applying.apply_batch(store, shot, server.now, CONFIG) == "repeat"
    async with store.autocommit() as tx:
        assert await log_state.parked_count(tx) == 0


async def test_how_long_a_batch_waited_is_measured(store: Store, server: Server) -> None:
    def waited() -> float:
        return REGISTRY.get_sample_value("matchfeed_log_batch_wait_seconds_sum") or 0

    before = waited()
    batch = server.cut(*logs.kick_off())
    await Consumer(store, CONFIG, lambda: batch.arrived_at + 250).handle(batch)
    assert waited() - before == pytest.approx(0.25)


class Flaky(Store):
    """A store whose first transactions fail as with an unavailable database."""

    def __init__(self, store: Store, failures: int) -> None:
        self._store = store
        self.failures = failures

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        if self.failures:
            self.failures -= 1
            raise Unavailable("The database cannot be used now.")
        async with self._store.transaction() as tx:
            yield tx

    @asynccontextmanager
    async def autocommit(self) -> AsyncIterator[Tx]:
        async with self._store.autocommit() as tx:
            yield tx
