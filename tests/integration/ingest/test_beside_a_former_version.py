"""While a process of version 0.2.0 is alive, nothing is on offer that it cannot read."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.domain.match import Match
from app.ingest import worker
from app.ingest.consumer import PartitionAssignment
from app.store import heartbeats
from app.store.connections import Store
from tests.integration.ingest.conftest import CONFIG, NOW, Server
from tests.support import stored
from tests.support.matches import create_match
from tests.support.queues import empty

_FORMER = "host/1/former"
_MORE_KILLS, _MOST_KILLS = 38, 39


async def is_alive(store: Store) -> None:
    """The former process sends a heartbeat as it does: without its compatibility level."""
    async with store.transaction() as tx:
        await tx.execute(
            "INSERT INTO worker_beat (worker, kind, at, reaches_broker) VALUES ($1, 'ingest', $2, true)",
            _FORMER,
            NOW,
        )


async def ends(store: Store) -> None:
    async with store.transaction() as tx:
        await heartbeats.remove(tx, _FORMER)


@pytest.fixture
async def match(store: Store) -> AsyncIterator[Match]:
    """A match that is created while the former process is alive."""
    await is_alive(store)
    yield await create_match(store, NOW, scheduled_at=NOW)
    await ends(store)


async def tick(store: Store) -> None:
    await worker.tick(store, PartitionAssignment("w1"), NOW + 1000, CONFIG, empty)


async def types_on_offer(store: Store, server: Server) -> set[int]:
    """Before the second round is played."""
    await server.begin()
    await server.win(1, 0)
    return {market.type_id for market in await stored.active(store, server.match)}


async def test_no_head_to_head_is_on_offer(store: Store, server: Server) -> None:
    await tick(store)
    offered = await types_on_offer(store, server)
    assert _MORE_KILLS not in offered and _MOST_KILLS - 3 in offered


async def test_they_come_on_offer_once_it_has_ended(store: Store, server: Server) -> None:
    await tick(store)
    await ends(store)
    await tick(store)
    assert _MORE_KILLS in await types_on_offer(store, server)


async def test_a_match_in_play_is_left_as_it_is(store: Store, server: Server) -> None:
    await server.begin()
    await ends(store)
    before = await server.state()
    await tick(store)
    assert await server.state() == before


async def test_a_match_that_is_committed_after_the_first_look_has_them(store: Store) -> None:
    """Its transaction found the former process alive; ingest has found meanwhile that it ended."""
    await tick(store)
    await is_alive(store)
    match = await create_match(store, NOW, scheduled_at=NOW)
    await ends(store)
    await tick(store)
    assert (await stored.present(store, match)).head_to_heads


async def test_two_ingest_processes_put_them_on_offer_once(store: Store, match: Match) -> None:
    await ends(store)
    await asyncio.gather(tick(store), tick(store))
    async with store.autocommit() as tx:
        given = "SELECT count(*) FROM match_input WHERE match_id = $1"
        assert await tx.value(given, match.id) == 2
