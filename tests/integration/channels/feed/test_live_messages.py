"""Every message that the interface names, live and replayed, as a tenant's queue receives it."""

from contextlib import AsyncExitStack
from typing import Any

import pytest
from lxml import etree

from app.domain.market import MarketStatus
from app.domain.match import Match, Status
from app.domain.recovery import RecoveryKind
from app.domain.settlement import VoidWindow
from app.kit.clock import system_clock
from tests.faults.rig import Consumer, Got, Rig, consuming, until
from tests.integration.channels.feed.conftest import Running
from tests.support.processes import ROOT
from tests.support.recoveries import recover
from tests.support.story import Story, offer

BETS = VoidWindow(5, 9)
SCHEMA = etree.XMLSchema(etree.parse(ROOT / "schemas" / "feed.xsd"))


def roots(messages: list[Got]) -> list[Any]:
    found = [etree.fromstring(got.body) for got in messages]
    for root in found:
        SCHEMA.assertValid(root)
    return found


async def everything_happens(story: Story) -> tuple[Match, Match]:
    """A match that is played and one that is called off; two markets settled and rolled back, or void, and
    the bets of a window void and rolled back."""
    played, called_off = await story.match(status=Status.UPCOMING), await story.match(status=Status.UPCOMING)
    await story.start(played)
    await story.offer(played, offer(1), offer(2), offer(3))
    await story.settle(played, offer(1))
    await story.void(played, offer(2))
    await story.take_back(played, offer(1))
    await story.take_back(played, offer(2))
    await story.void_bets(played, BETS, offer(3))
    await story.void_bets(played, BETS, offer(3), rolled_back=True)
    await story.cancel(called_off)
    await story.finish(played)
    return played, called_off


async def test_every_live_message(rig: Rig, feed: Running, consumer: Consumer) -> None:
    story = Story(rig.store)
    async with feed(alive_seconds=0.5):
        played, called_off = await everything_happens(story)
        await until("the end", lambda: consumer.live and b'status="4"' in consumer.live[-1].body)
        await until("alive", lambda: consumer.alives)
    received = roots(consumer.live)
    assert {root.tag for root in received} == {
        *("odds_change", "bet_settlement", "bet_cancel", "fixture_change"),
        *("rollback_bet_settlement", "rollback_bet_cancel"),
    }
    for got, root in zip(consumer.live, received, strict=True):
        number = root.get("event_id").rpartition(":")[2]
        assert got.key == f"hi.-.live.{root.tag}.2.od:match.{number}.-"
    for root in (*received, *roots(consumer.alives)):
        assert root.get("product") == str(rig.settings.producer_id)
        assert root.get("request_id") is None
    fixtures = {
        root.get("event_id"): root.get("change_type") for root in received if root.tag == "fixture_change"
    }
    assert fixtures == {f"od:match:{played.number}": "1", f"od:match:{called_off.number}": "3"}
    voids = [root for root in received if root.tag == "bet_cancel"]
    assert [market.get("void_reason_id") for root in voids for market in root.iter("market")] == ["4", "4"]
    for tag in ("bet_cancel", "rollback_bet_cancel"):
        windows = [(root.get("start_time"), root.get("end_time")) for root in received if root.tag == tag]
        assert windows == [(None, None), ("5", "9")], "the rollback repeats the window"
    codes = [node.get("status") for root in received for node in root.iter("sport_event_status")]
    assert set(codes) == {"1", "4", "5"}
    for root in received:
        for outcome in root.iter("outcome"):
            assert (outcome.get("id"), outcome.get("name")) == ("1", None)


ENDS = {
    RecoveryKind.REST_FULL: {"odds_change", "snapshot_complete"},
    RecoveryKind.FACADE_FULL: {
        *("fixture_change", "odds_change", "bet_settlement", "bet_cancel"),
        *("rollback_bet_settlement", "rollback_bet_cancel", "snapshot_complete"),
    },
    RecoveryKind.EVENT_ODDS: {"odds_change", "snapshot_complete"},
    RecoveryKind.EVENT_STATEFUL: {"bet_settlement", "bet_cancel", "snapshot_complete"},
}


@pytest.mark.parametrize("kind", ENDS)
async def test_every_kind_of_recovery_ends_with_its_snapshot_complete(
    rig: Rig, feed: Running, kind: RecoveryKind
) -> None:
    story = Story(rig.store)
    after = system_clock() - 1000 if kind is RecoveryKind.FACADE_FULL else 0
    await everything_happens(story)
    live = await story.match(offer(4), offer(5), offer(6))
    await story.settle(live, offer(4))
    await story.void(live, offer(5))
    of_match = live if kind in (RecoveryKind.EVENT_ODDS, RecoveryKind.EVENT_STATEFUL) else None
    request_id = None if of_match else "41"
    tenant, url = await rig.tenant()
    async with consuming(url, rig.settings.exchange) as consumer, feed():
        job = await recover(rig.store, tenant, request_id, after=after, kind=kind, match=of_match)
        await until("the end", lambda: ended(consumer))
    received = roots(consumer.replayed)
    assert {root.tag for root in received} == ENDS[kind]
    assert {root.get("request_id") for root in received} == {job.request.request_id}
    assert int(job.request.request_id) > 0
    assert [root.tag for root in received].index("snapshot_complete") == len(received) - 1
    assert {got.key.rpartition(".")[2] for got in consumer.replayed} == {"-"}, "no node was sent"
    assert consumer.replayed[-1].key == "-.-.-.snapshot_complete.-.-.-.-"
    if of_match:
        urns = {root.get("event_id") for root in received[:-1]}
        assert urns == {f"od:match:{live.number}"}


def ended(consumer: Consumer) -> bool:
    return any(b"<snapshot_complete" in got.body for got in consumer.replayed)


def probabilities(messages: list[Got]) -> list[str | None]:
    """Those of every outcome with odds."""
    roots_ = [root for root in roots(messages) if root.tag == "odds_change"]
    return [node.get("probabilities") for root in roots_ for node in root.iter("outcome") if node.get("odds")]


async def test_probabilities_are_for_tenants_that_receive_them(rig: Rig, feed: Running) -> None:
    story = Story(rig.store)
    match = await story.match()
    async with AsyncExitStack() as stack:
        consumers = []
        for wanted in (False, True):
            tenant, url = await rig.tenant(probabilities=wanted)
            consumers.append((tenant, await stack.enter_async_context(consuming(url, rig.settings.exchange))))
        await stack.enter_async_context(feed())
        await story.offer(match, offer(1), offer(2))
        for tenant, consumer in consumers:
            await until("live odds", lambda consumer=consumer: probabilities(consumer.live))
            await recover(rig.store, tenant, "1")
            await until("replayed odds", lambda consumer=consumer: probabilities(consumer.replayed))
    (_, plain), (_, detailed) = consumers
    assert {*probabilities(plain.live), *probabilities(plain.replayed)} == {None}
    (live,), (replayed,) = set(probabilities(detailed.live)), set(probabilities(detailed.replayed))
    assert live == replayed and live is not None and 0 < float(live) < 1


async def test_a_bet_stop_comes_before_the_odds_change_that_leaves_nothing_on_offer(
    rig: Rig, feed: Running
) -> None:
    story = Story(rig.store)
    match = await story.match()
    off = {"status": MarketStatus.SUSPENDED}
    async with AsyncExitStack() as stack:
        consumers = []
        for wanted in (False, True):
            tenant, url = await rig.tenant(bet_stop=wanted)
            consumers.append((tenant, await stack.enter_async_context(consuming(url, rig.settings.exchange))))
        await stack.enter_async_context(feed())
        await story.offer(match, offer(1), offer(2), offer(3))
        await story.offer(match, offer(1, **off))  # two are still on offer
        await story.offer(match, offer(2, **off), offer(3, **off))
        await story.offer(match, offer(1))
        for tenant, consumer in consumers:
            await until("the end", lambda consumer=consumer: tags(consumer.live).count("odds_change") == 4)
            await recover(rig.store, tenant, "1")
            await until("the end", lambda consumer=consumer: ended(consumer))
    (_, plain), (_, stopped) = consumers
    assert tags(plain.live) == ["odds_change"] * 4
    assert tags(stopped.live) == ["odds_change", "odds_change", "bet_stop", "odds_change", "odds_change"]
    for received in (plain, stopped):
        assert "bet_stop" not in tags(received.replayed)
    stop, odds = stopped.live[2:4]
    assert stop.key == f"hi.-.live.bet_stop.2.od:match.{match.number}.-"
    [root] = roots([stop])
    assert (root.get("groups"), root.get("market_status")) == ("all", "-1")
    stamps = [int(one.get("timestamp")) for one in roots(stopped.live)]
    assert stamps == sorted(set(stamps)) and [got.seq for got in stopped.live] == sorted(
        {got.seq for got in stopped.live}
    )
    assert stop.prev == odds.prev == stopped.live[1].seq
    assert stopped.live[4].prev == odds.seq
    same = [got for got in stopped.live if got is not stop]
    assert [(got.body, got.seq, got.prev) for got in same] == [
        (got.body, got.seq, got.prev) for got in plain.live
    ], "nothing else differs"


def tags(messages: list[Got]) -> list[str]:
    return [root.tag for root in roots(messages)]
