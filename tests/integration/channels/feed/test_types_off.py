"""A market type that is switched off for one of two tenants: what each receives over AMQP."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple

import pytest
from lxml import etree

from app.amqp import relay
from app.domain.market import specifier_values
from app.domain.match import Match, Status
from app.domain.recovery import RecoveryKind
from app.domain.settlement import VoidWindow
from app.domain.tenant import Tenant
from app.kit.clock import system_clock
from tests.faults.rig import Consumer, Got, Rig, consuming, until
from tests.integration.channels.feed.conftest import Running
from tests.support.processes import ROOT
from tests.support.recoveries import recover
from tests.support.story import Story, offer
from tests.support.tenants import ROUND_WINNER, book, switch

SCHEMA = etree.XMLSchema(etree.parse(ROOT / "schemas" / "feed.xsd"))
OTHER = 1


class Read(NamedTuple):
    """A message: its name, and each market in it by type and round, with its status (None: it has none)."""

    name: str
    markets: dict[tuple[int, str], str | None]


def read(got: Got) -> Read:
    root: Any = etree.fromstring(got.body)
    SCHEMA.assertValid(root)
    if not got.key.startswith("-"):
        assert got.key.split(".")[3] == root.tag
    markets = {(int(each.get("id")), round_of(each)): each.get("status") for each in root.iter("market")}
    return Read(root.tag, markets)


def round_of(market: Any) -> str:
    return specifier_values(market.get("specifiers"))["round"]


def of_type(messages: list[Read], kind: int) -> list[tuple[str, str, str | None]]:
    """The messages' markets of a type: name of the message, round, status."""
    return [
        (one.name, number, status)
        for one in messages
        for (type_id, number), status in one.markets.items()
        if type_id == kind
    ]


def check_chain(messages: list[Got]) -> None:
    """The rule of docs/feed.md by which a client knows of a gap, for each match."""
    seen: dict[str, set[int]] = {}
    for got in messages:
        of_match = seen.setdefault(got.key.split(".", 5)[5], {0})
        assert got.prev is not None and got.seq is not None
        assert got.prev <= max(of_match), "a client would take this for a gap"
        assert got.prev in of_match and got.seq > max(of_match)
        of_match.add(got.seq)


class Audience:
    """Two tenants, each with a consumer; round winners are switched for the first one alone."""

    def __init__(self, rig: Rig, story: Story) -> None:
        self.rig, self.story = rig, story
        self.tenants: list[Tenant] = []
        self.consumers: list[Consumer] = []

    async def switch(self, on: bool, kind: int = ROUND_WINNER) -> None:
        await switch(self.rig.store, on, kind, slug=self.tenants[0].slug)

    async def recover(self, kind: RecoveryKind, number: str, after: int = 0) -> list[list[Read]]:
        """What each tenant receives until the end of a recovery."""
        found = []
        for tenant, consumer in zip(self.tenants, self.consumers, strict=True):
            await recover(self.rig.store, tenant, number, kind=kind, after=after)
            wanted = f'request_id="{number}"'.encode()

            def ended(consumer: Consumer = consumer, wanted: bytes = wanted) -> bool:
                return any(
                    b"<snapshot_complete" in got.body and wanted in got.body for got in consumer.replayed
                )

            await until("the end of the recovery", ended)
            found.append([read(got) for got in consumer.replayed if wanted in got.body][:-1])
        return found

    async def received(self, match: Match) -> list[list[Read]]:
        """What each tenant has received live once the match's end has reached both."""
        await self.story.finish(match)
        for consumer in self.consumers:
            await until("the end", lambda got=consumer: got.live and b'status="4"' in got.live[-1].body)
            check_chain(consumer.live)
        return [[read(got) for got in consumer.live] for consumer in self.consumers]


@asynccontextmanager
async def audience(rig: Rig) -> AsyncIterator[Audience]:
    async with AsyncExitStack() as stack:
        found = Audience(rig, Story(rig.store))
        for _ in range(2):
            tenant, url = await rig.tenant()
            found.tenants.append(tenant)
            found.consumers.append(await stack.enter_async_context(consuming(url, rig.settings.exchange)))
        yield found


async def everything_happens(both: Audience, match: Match) -> None:
    """Two markets are offered before the type is switched off, one while it is off that ends, one while it is
    off that is open when it is switched on again, and one after that."""
    story = both.story
    await story.offer(match, offer(1), offer(2))
    await story.offer(match, offer(9, type_id=OTHER))
    await both.switch(False)
    await both.switch(False)
    await story.offer(match, offer(1), offer(3), offer(4))
    await story.offer(match, offer(2, odds=offer(2).odds + 1), offer(9, type_id=OTHER))
    await story.settle(match, offer(1), offer(3))
    await story.settle(match, offer(9, type_id=OTHER))
    await story.take_back(match, offer(1, settled_by="engine"), offer(3, settled_by="engine"))
    await story.void(match, offer(3))
    await story.settle(match, offer(1))
    await story.void_bets(match, VoidWindow(5, 9), offer(2))
    await both.switch(True)
    await story.settle(match, offer(4))
    await story.offer(match, offer(5))


OFFERED = [
    ("odds_change", "1", "1"),
    ("odds_change", "2", "1"),
    # the switch: what was active is suspended, once
    ("odds_change", "1", "-1"),
    ("odds_change", "2", "-1"),
    # while it is off: how the first one ends, is rolled back and ends again, and void bets of the second
    ("bet_settlement", "1", None),
    ("odds_change", "1", "-3"),
    ("rollback_bet_settlement", "1", None),
    ("odds_change", "1", "-1"),
    ("bet_settlement", "1", None),
    ("odds_change", "1", "-3"),
    ("bet_cancel", "2", None),
    # on again: what is open then, and what follows
    ("odds_change", "2", "1"),
    ("odds_change", "4", "1"),
    ("bet_settlement", "4", None),
    ("odds_change", "4", "-3"),
    ("odds_change", "5", "1"),
]


@pytest.mark.parametrize("when", ["live", "from memory", "from the log"])
async def test_what_is_published(rig: Rig, feed: Running, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if when == "from the log":
        monkeypatch.setattr(relay, "_READ_BACK", 0)
    async with audience(rig) as both, AsyncExitStack() as running:
        if when == "live":
            await running.enter_async_context(feed())
        match = await both.story.match()
        await everything_happens(both, match)
        if when != "live":
            await running.enter_async_context(feed())
        switched, other = await both.received(match)
    assert of_type(switched, ROUND_WINNER) == OFFERED
    assert of_type(switched, OTHER) == of_type(other, OTHER) != []
    everything = of_type(other, ROUND_WINNER)
    assert set(everything) > {("odds_change", "3", "1"), ("bet_cancel", "3", None), ("odds_change", "2", "1")}
    assert ("odds_change", "2", "-1") not in everything, "the switch is the first tenant's alone"
    emptied = [one for one in switched if not one.markets]
    assert {one.name for one in emptied} == {"odds_change"}
    own = {got.seq for got in both.consumers[0].live} - {got.seq for got in both.consumers[1].live}
    assert len(own) == 2, "one message for each switch, and every other one to both"
    assert {got.seq for got in both.consumers[1].live} < {got.seq for got in both.consumers[0].live}


async def test_a_market_of_a_clock_that_is_behind_is_suspended_everywhere(rig: Rig, feed: Running) -> None:
    """By its time it was opened before the switch: the live messages, a recovery and its result agree."""
    behind = Story(rig.store, lambda: system_clock() - 60_000)
    async with audience(rig) as both, feed():
        match = await both.story.match()
        await both.story.offer(match, offer(1))
        await both.switch(False)
        await behind.offer(match, offer(2))
        await behind.offer(match, offer(2, odds=offer(2).odds + 1))
        replayed, _ = await both.recover(RecoveryKind.FACADE_FULL, "1")
        await behind.settle(match, offer(2))
        switched, _ = await both.received(match)
    assert open_and_closed(replayed) == {"1": "-1", "2": "-1"}
    assert of_type(switched, ROUND_WINNER) == [
        ("odds_change", "1", "1"),
        ("odds_change", "1", "-1"),
        ("odds_change", "2", "-1"),
        ("bet_settlement", "2", None),
        ("odds_change", "2", "-3"),
    ]


async def test_a_match_without_such_markets_is_not_mentioned(rig: Rig, feed: Running) -> None:
    async with audience(rig) as both, feed():
        match, quiet = await both.story.match(), await both.story.match()
        await both.story.offer(quiet, offer(9, type_id=OTHER))
        await both.story.offer(match, offer(1, status=-1))
        await both.switch(False)
        switched, other = await both.received(match)
    assert switched == other


def open_and_closed(messages: list[Read]) -> dict[str, str | None]:
    """The round winners of a recovery's odds, by round, with their status."""
    return {number: status for one in messages if one.name == "odds_change" for number, status in rounds(one)}


def rounds(message: Read) -> Iterator[tuple[str, str | None]]:
    return ((number, status) for (kind, number), status in message.markets.items() if kind == ROUND_WINNER)


async def test_what_is_replayed(rig: Rig, feed: Running) -> None:
    after = system_clock() - 1000
    async with audience(rig) as both, feed():
        story, match = both.story, await both.story.match()
        await story.offer(match, offer(1), offer(2), offer(6))
        await both.switch(False)
        await story.offer(match, offer(3), offer(4))
        await story.settle(match, offer(1), offer(3))
        await story.void(match, offer(6))
        await story.take_back(match, offer(6))
        switched, other = await both.recover(RecoveryKind.FACADE_FULL, "1", after)
        assert open_and_closed(switched) == {"2": "-1", "6": "-1"}
        assert open_and_closed(other) == {"2": "1", "4": "1", "6": "-1"}
        assert results(switched) == {("bet_settlement", "1"), ("rollback_bet_cancel", "6")}
        assert results(other) == {*results(switched), ("bet_settlement", "3")}
        await both.switch(True)
        switched, _ = await both.recover(RecoveryKind.FACADE_FULL, "2", after)
        assert open_and_closed(switched) == {"2": "1", "4": "1", "6": "-1"}
        assert results(switched) == {("bet_settlement", "1"), ("rollback_bet_cancel", "6")}
        await both.switch(False)
        await story.offer(match, offer(5))
        await story.settle(match, offer(4), offer(5))
        await story.finish(match)
        switched, other = await both.recover(RecoveryKind.FACADE_FULL, "3", after)
    assert open_and_closed(switched) == {"1": "-3", "2": "-1", "3": "-3", "4": "-3", "6": "-1"}
    assert open_and_closed(other) == {**open_and_closed(switched), "2": "1", "5": "-3"}
    assert ("bet_settlement", "4") in results(switched) and ("bet_settlement", "5") not in results(switched)


def results(messages: list[Read]) -> set[tuple[str, str]]:
    return {(name, number) for name, number, _ in of_type(messages, ROUND_WINNER) if name != "odds_change"}


async def test_a_match_that_is_not_booked_is_not_mentioned(rig: Rig, feed: Running) -> None:
    async with audience(rig) as both, feed():
        match, hidden = await both.story.match(status=Status.LIVE), await both.story.match()
        await book(rig.store, hidden, False, both.tenants[0].slug)
        await both.story.offer(hidden, offer(1))
        await both.switch(False)
        switched, _ = await both.received(match)
    assert of_type(switched, ROUND_WINNER) == []
