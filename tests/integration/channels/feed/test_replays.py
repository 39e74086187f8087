"""Replays as a tenant's client receives them: what was published then, once more."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from app.broker.permissions import REPLAY_EXCHANGE
from app.domain.market import MarketStatus
from app.domain.match import Status
from app.domain.replay import Accident, AccidentKind, ReplayOptions, ReplayState
from app.domain.tenant import Tenant
from tests.faults.rig import Consumer, Got, Rig, consuming, until
from tests.integration.channels.feed.conftest import Running
from tests.integration.channels.feed.test_live_messages import everything_happens
from tests.support.replays import FAST, ended, prune_all, replay
from tests.support.story import Story, offer
from tests.support.tenants import book, switch


class Both:
    """A tenant's clients: of the feed, and of replays."""

    def __init__(self, tenant: Tenant, live: Consumer, replayed: Consumer) -> None:
        self.tenant, self.live, self.replayed = tenant, live, replayed

    async def caught_up(self, story: Story) -> None:
        """Until the last live message has come."""
        stamp = f'timestamp="{story.at}"'.encode()
        await until("the last live message", lambda: any(stamp in got.body for got in self.live.live))


@asynccontextmanager
async def both(rig: Rig, **fields: bool) -> AsyncIterator[Both]:
    tenant, url = await rig.tenant(**fields)
    async with consuming(url, rig.settings.exchange) as live, consuming(url, REPLAY_EXCHANGE) as replayed:
        yield Both(tenant, live, replayed)


def bodies(messages: list[Got], number: int) -> list[bytes]:
    return [got.body for got in messages if f'event_id="od:match:{number}"'.encode() in got.body]


@pytest.mark.parametrize("kept", [False, True], ids=["in the log", "kept"])
async def test_bodies_are_those_of_then(rig: Rig, feed: Running, kept: bool) -> None:
    story = Story(rig.store)
    async with both(rig) as client, feed():
        played, called_off = await everything_happens(story)
        await client.caught_up(story)
        if kept:
            await story.match(offer(1), offer(2))
            assert await prune_all(rig.store)
        job = await ended(rig.store, await replay(rig.store, client.tenant, [played, called_off], node="7"))
        assert (job.state, job.error) == (ReplayState.COMPLETED, "")
        live = [got for got in client.live.live if got.seq in client.replayed.seqs]
        replayed = client.replayed.got
        for match in (played, called_off):
            assert bodies(replayed, match.number) == bodies(client.live.live, match.number)
            assert bodies(replayed, match.number)
        assert job.envelopes == len(replayed) == len(live)
        prev = {got.seq: (got.prev, got.key.removesuffix("-")) for got in live}
        for got in replayed:
            assert prev[got.seq] == (got.prev, got.key.removesuffix("7"))
            assert got.message_id == f"mf-p{job.id}.{got.seq}"
        assert not [got for got in client.live.got if "-p" in got.message_id], "only on its own exchange"


async def test_the_tenants_own_odds_and_what_was_off(rig: Rig, feed: Running) -> None:
    """Market types that were off, a booking that was not there, and probabilities: as they were then."""
    story = Story(rig.store)
    async with both(rig, probabilities=True) as client, feed():
        match = await story.match(offer(1))
        await switch(rig.store, False, 13, slug=client.tenant.slug)
        await story.offer(match, offer(1, probability=0.7), offer(2))
        await switch(rig.store, True, 13, slug=client.tenant.slug)
        await book(rig.store, match, False, slug=client.tenant.slug)
        await story.offer(match, offer(3))
        await book(rig.store, match, True, slug=client.tenant.slug)
        await story.settle(match, offer(1))
        await story.finish(match)
        await client.caught_up(story)
        await story.match(offer(1))
        await prune_all(rig.store)
        job = await ended(rig.store, await replay(rig.store, client.tenant, [match]))
        assert job.state is ReplayState.COMPLETED
        assert [got.body for got in client.replayed.got] == bodies(client.live.live, match.number)
        assert any(b"probabilities=" in got.body for got in client.replayed.got)


async def test_timestamps_are_rewritten_where_wanted(rig: Rig, feed: Running) -> None:
    story = Story(rig.store, now=lambda: 1_000_000)
    async with both(rig) as client, feed():
        match = await story.match(offer(1))
        await story.settle(match, offer(1))
        await story.finish(match)
        options = ReplayOptions(max_delay=0, rewrite_timestamps=True)
        job = await ended(rig.store, await replay(rig.store, client.tenant, [match], options))
        assert job.state is ReplayState.COMPLETED and job.started_at
        stamps = [int(got.body.split(b'timestamp="')[1].split(b'"')[0]) for got in client.replayed.got]
        assert stamps == sorted(set(stamps)) and stamps[0] >= job.started_at


async def test_a_replay_yields_nothing_to_others(rig: Rig, feed: Running) -> None:
    """Another tenant's clients receive nothing of it, nor does another node's queue."""
    story = Story(rig.store)
    async with both(rig) as client, both(rig) as other, feed():
        match = await story.match(offer(1))
        await story.finish(match)
        await ended(rig.store, await replay(rig.store, client.tenant, [match], node="3"))
        await until("the replay", lambda: client.replayed.got)
        assert other.replayed.got == []
        assert {got.key.rpartition(".")[2] for got in client.replayed.got} == {"3"}


async def test_after_an_outage_the_client_has_what_it_would_have(rig: Rig, feed: Running) -> None:
    """Withheld results come as they were, and the newest state of what changed."""
    story = Story(rig.store)
    async with both(rig) as client, feed():
        match = await story.match(offer(1), offer(2), offer(3))
        await story.offer(match, offer(1, status=MarketStatus.SUSPENDED))
        await story.settle(match, offer(1))
        await story.offer(match, offer(2, probability=0.9))
        await story.finish(match)
        options = ReplayOptions(max_delay=0, accidents=(Accident(AccidentKind.OUTAGE, 1, 4),))
        job = await ended(rig.store, await replay(rig.store, client.tenant, [match], options))
        assert job.state is ReplayState.COMPLETED
        first, result, odds, *rest = client.replayed.got
        assert b'status="-1"' not in first.body and b"<bet_settlement" in result.body
        assert odds.key.split(".")[3] == "odds_change" and odds.prev is None
        for part in (b"round=1|team=home", b"round=2|team=home", b'status="-3"'):
            assert part in odds.body
        assert b"round=3|team=home" not in odds.body, "it did not change meanwhile"
        assert rest


@pytest.mark.parametrize(
    ("kind", "order"),
    [(AccidentKind.DUPLICATES, [0, 1, 1, 2, 2, 3, 4]), (AccidentKind.DISORDER, [0, 2, 1, 3, 4])],
)
async def test_messages_are_repeated_or_exchanged(
    rig: Rig, feed: Running, kind: AccidentKind, order: list[int]
) -> None:
    story = Story(rig.store)
    async with both(rig) as client, feed():
        match = await story.match()
        for number in range(1, 5):
            await story.offer(match, offer(number))
        await story.finish(match)
        await ended(rig.store, await replay(rig.store, client.tenant, [match]))
        plain = [got.seq for got in client.replayed.got]
        client.replayed.got.clear()
        options = ReplayOptions(max_delay=0, accidents=(Accident(kind, 1, 2),))
        await ended(rig.store, await replay(rig.store, client.tenant, [match], options))
        assert [plain.index(got.seq) for got in client.replayed.got] == order


async def test_what_goes_is_reported(rig: Rig, feed: Running) -> None:
    """A match that is unbooked between the request and the run ends it, with the reason."""
    story = Story(rig.store)
    async with both(rig) as client:
        match = await story.match(offer(1), status=Status.LIVE)
        await story.finish(match)
        job = await replay(rig.store, client.tenant, [match], FAST)
        await book(rig.store, match, False, slug=client.tenant.slug)
        async with feed():
            done = await ended(rig.store, job)
        assert (done.state, done.error) == (
            ReplayState.FAILED,
            f"od:match:{match.number} is no longer booked",
        )
        assert client.replayed.got == []
