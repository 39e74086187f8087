"""A profile of one of two tenants: the odds that each receives over AMQP, live and in recoveries."""

from contextlib import AsyncExitStack
from typing import Any

import pytest
from lxml import etree

from app.amqp import relay
from app.domain.match import Match
from app.domain.recovery import RecoveryKind
from app.kit.clock import system_clock
from tests.faults.rig import Consumer, Got, Rig, until
from tests.integration.channels.feed.conftest import Running
from tests.integration.channels.feed.test_types_off import Audience, audience, check_chain, round_of
from tests.support.recoveries import recover
from tests.support.story import offer
from tests.support.tenants import give_profile

Odds = list[tuple[str, str, str | None]]  #: round, status, odds


def odds_of(messages: list[Got]) -> Odds:
    """Each market of each `odds_change`, in order."""
    found = []
    for got in messages:
        root: Any = etree.fromstring(got.body)
        for each in root.iter("market") if root.tag == "odds_change" else ():
            outcome = each.find("outcome")
            found.append((round_of(each), each.get("status"), outcome.get("odds")))
    return found


async def replayed(both: Audience, number: str) -> list[Odds]:
    found = []
    for tenant, consumer in zip(both.tenants, both.consumers, strict=True):
        wanted = f'request_id="{number}"'.encode()
        await recover(both.rig.store, tenant, number, kind=RecoveryKind.FACADE_FULL, after=0)

        def ended(consumer: Consumer = consumer, wanted: bytes = wanted) -> bool:
            return any(
                b"<snapshot_complete" in each.body and wanted in each.body for each in consumer.replayed
            )

        await until("the end of the recovery", ended)
        found.append(odds_of([each for each in consumer.replayed if wanted in each.body]))
    return found


async def live(both: Audience, match: Match) -> list[Odds]:
    await both.story.finish(match)
    for consumer in both.consumers:
        await until("the end", lambda got=consumer: got.live and b'status="4"' in got.live[-1].body)
        check_chain(consumer.live)
    return [odds_of(consumer.live) for consumer in both.consumers]


@pytest.mark.parametrize("when", ["live", "from memory", "from the log"])
async def test_the_place_of_a_change_decides_about_its_odds(
    rig: Rig, feed: Running, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if when == "from the log":
        monkeypatch.setattr(relay, "_READ_BACK", 0)
    async with audience(rig) as both, AsyncExitStack() as running:
        slug, story = both.tenants[0].slug, both.story
        if when == "live":
            await running.enter_async_context(feed())
        match = await story.match()
        await story.offer(match, offer(1), offer(2, status=-1))
        await give_profile(rig.store, 0.25, slug=slug)
        await story.offer(match, offer(3, probability=0.4))
        await give_profile(rig.store, 0.6 - 0.35, slug=slug)
        await give_profile(rig.store, None, slug=slug)
        await story.offer(match, offer(3))
        await story.settle(match, offer(1))
        if when != "live":
            await running.enter_async_context(feed())
        own, other = await live(both, match)
    assert own == [
        ("1", "1", "1.85"),
        ("2", "-1", "1.85"),
        # the profile: every open market whose odds change, once; equal content changes nothing
        ("1", "1", "1.600"),
        ("2", "-1", "1.600"),
        ("3", "1", "2.000"),
        # standard odds again
        ("1", "1", "1.85"),
        ("2", "-1", "1.85"),
        ("3", "1", "1.85"),
        ("3", "1", "1.85"),
        ("1", "-3", None),
    ]
    assert other == [
        ("1", "1", "1.85"),
        ("2", "-1", "1.85"),
        ("3", "1", "1.85"),
        ("3", "1", "1.85"),
        ("1", "-3", None),
    ]


async def test_a_recovery_has_the_odds_of_the_profile(rig: Rig, feed: Running) -> None:
    async with audience(rig) as both, feed():
        match = await both.story.match()
        await both.story.offer(match, offer(1), offer(2, probability=0.97))
        await give_profile(rig.store, 0.25, slug=both.tenants[0].slug, min_odds=1.05)
        own, other = await replayed(both, "1")
        assert sorted(own) == [("1", "1", "1.600"), ("2", "-1", "1.050")]
        assert sorted(other) == [("1", "1", "1.85"), ("2", "1", "1.85")]


async def test_tenants_with_one_profile_share_what_is_rendered(rig: Rig, feed: Running) -> None:
    async with audience(rig) as both, feed():
        for tenant in both.tenants:
            await give_profile(rig.store, 0.25, slug=tenant.slug)
        match = await both.story.match()
        await both.story.offer(match, offer(1))
        own, other = await live(both, match)
        bodies = [[got.body for got in consumer.live] for consumer in both.consumers]
    assert own == other == [("1", "1", "1.600")]
    assert bodies[0] == bodies[1]


async def test_matches_that_a_profile_changes_get_a_newer_timestamp(rig: Rig, feed: Running) -> None:
    """A client that drops what is older than what it has keeps the odds of the switch."""
    async with audience(rig) as both, feed():
        match = await both.story.match()
        await both.story.offer(match, offer(1))
        before = system_clock()
        await give_profile(rig.store, 0.25, slug=both.tenants[0].slug)
        await live(both, match)
        stamps = [int(etree.fromstring(got.body).get("timestamp")) for got in both.consumers[0].live]
    assert stamps == sorted(stamps) and len(set(stamps)) == len(stamps)
    assert stamps[1] >= before
