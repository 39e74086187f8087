"""A market type that is switched off for one of two tenants: the frames of each."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from websockets.asyncio.client import ClientConnection

from app.domain import scopes
from app.domain.market import specifier_values
from app.kit.clock import system_clock
from tests.support.stored import head
from tests.support.story import Story, offer
from tests.support.streaming import Message, subscribed, until_alive, until_present
from tests.support.tenants import ROUND_WINNER, switch
from tests.support.web import IssueKey

OTHER = 1
Seen = list[tuple[str, int, str]]  #: type of the frame, round, status of the market or of the ledger entry


@pytest.fixture
async def other(issue: IssueKey) -> str:
    """A key of another bookmaker."""
    return await issue("beta", bundles=("cs2.odds.basic",))


@pytest.fixture
async def without_market_frames(issue: IssueKey) -> str:
    """A key of the first bookmaker that sees markets in match frames alone."""
    return await issue(scopes=(scopes.READ, scopes.MARKETS, scopes.STREAM_MATCHES))


def of_markets(frames: list[Message], kind: int = ROUND_WINNER) -> Seen:
    found = []
    for frame in frames:
        data = frame["data"]
        if frame["type"].startswith("market.") and data["id"] == kind:
            found.append((frame["type"], number(data), data["status"]))
        elif frame["type"] == "bet_settlement" and data["market_id"] == kind:
            found.append((frame["type"], number(data), data["new_status"]))
    return found


def number(data: Message) -> int:
    return int(specifier_values(data["specifiers"])["round"])


def in_match(frame: Message) -> dict[int, str]:
    """The round winners of a match frame, by round, with their status."""
    shown = frame["data"]["markets"]
    return {number(each): each["status"] for each in shown if each["id"] == ROUND_WINNER}


def updates(frames: list[Message]) -> list[Message]:
    return [frame for frame in frames if frame["type"] == "match.updated"]


def snapshot(frames: list[Message]) -> dict[int, str]:
    return {round_: status for _, round_, status in of_markets(frames)}


@asynccontextmanager
async def listening(host: str, raw: str, other: str, ref: str) -> AsyncIterator[list[ClientConnection]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(subscribed(host, key, ref)) for key in (raw, other)]


@pytest.mark.parametrize("of_one_match", [False, True])
async def test_what_is_sent(host: str, raw: str, other: str, story: Story, of_one_match: bool) -> None:
    match = await story.match(offer(1), offer(2))
    async with listening(host, raw, other, str(match.id) if of_one_match else "") as clients:
        for client in clients:
            assert snapshot(await until_alive(client)) == {1: "active", 2: "active"}
        await switch(story.store, False)
        await story.offer(match, offer(3), offer(4), offer(9, type_id=OTHER))
        seen = [await until_present(client, story.store) for client in clients]
        assert of_markets(seen[0]) == [
            ("market.suspended", 1, "suspended"),
            ("market.suspended", 2, "suspended"),
        ]
        assert of_markets(seen[1]) == [("market.created", 3, "active"), ("market.created", 4, "active")]
        assert of_markets(seen[0], OTHER) == of_markets(seen[1], OTHER) == [("market.created", 9, "active")]
        await story.offer(match, offer(2, odds=offer(2).odds + 1), offer(3, odds=offer(3).odds + 1))
        await story.settle(match, offer(1), offer(3))
        await story.take_back(match, offer(1, settled_by="engine"), offer(3, settled_by="engine"))
        first, second = [await until_present(client, story.store) for client in clients]
        assert of_markets(first)[-2:] == [
            ("bet_settlement", 1, "pending"),
            ("market.suspended", 1, "suspended"),
        ]
        assert {(kind, round_) for kind, round_, _ in of_markets(first)} <= {
            ("bet_settlement", 1),
            ("market.updated", 1),
            ("market.suspended", 1),
        }
        assert ("bet_settlement", 3, "settled") in of_markets(second)
        await switch(story.store, True)
        await story.settle(match, offer(4))
        first, second = [await until_present(client, story.store) for client in clients]
        assert of_markets(first)[:2] == [
            ("market.suspended", 1, "suspended"),
            ("market.updated", 2, "active"),
        ]
        assert {("market.updated", 4, "settled"), ("bet_settlement", 4, "settled")} <= {*of_markets(first)}
        assert of_markets(second) == [("bet_settlement", 4, "settled"), ("market.updated", 4, "settled")]


async def test_a_market_of_a_clock_that_is_behind(host: str, raw: str, other: str, story: Story) -> None:
    """By its time it was opened before the switch: frames and snapshots show it suspended."""
    match = await story.match(offer(1))
    behind = Story(story.store, lambda: system_clock() - 60_000)
    async with subscribed(host, raw) as client:
        await until_alive(client)
        await switch(story.store, False)
        await behind.offer(match, offer(2))
        await behind.offer(match, offer(2, odds=offer(2).odds + 1))
        assert of_markets(await until_present(client, story.store)) == [
            ("market.suspended", 1, "suspended"),
            ("market.suspended", 2, "suspended"),
        ]
    async with subscribed(host, raw) as client:
        assert snapshot(await until_alive(client)) == {1: "suspended", 2: "suspended"}


async def test_who_connects_while_it_is_off(host: str, raw: str, other: str, story: Story) -> None:
    """The snapshot is what the frames have led to, and a resume what was missed."""
    match = await story.match(offer(1), offer(2))
    since = await head(story.store)
    await switch(story.store, False)
    await story.offer(match, offer(3))
    await story.settle(match, offer(2))
    async with listening(host, raw, other, "") as clients:
        first, second = [await until_alive(client) for client in clients]
        assert (snapshot(first), snapshot(second)) == ({1: "suspended"}, {1: "active", 3: "active"})
        (market,) = [frame for frame in first if frame["type"] == "market.updated"]
        assert market["meta"]["seq"] > since, "who has heard of the offer learns that it is suspended"
    async with subscribed(host, raw, since=since) as client:
        missed = of_markets(await until_alive(client))
    assert missed == [
        ("market.suspended", 1, "suspended"),
        ("market.suspended", 2, "suspended"),
        ("bet_settlement", 2, "settled"),
        ("market.updated", 2, "settled"),
    ]


async def test_the_match_frame(host: str, without_market_frames: str, story: Story) -> None:
    """A key without frames for markets sees the same in those of the match."""
    match = await story.match(offer(1), offer(2))
    async with subscribed(host, without_market_frames) as client:
        begun = updates(await until_alive(client))
        assert in_match(begun[-1]) == {1: "active", 2: "active"}
        await switch(story.store, False)
        shown = updates(await until_present(client, story.store))
        assert in_match(shown[-1]) == {1: "suspended", 2: "suspended"}
        await story.offer(match, offer(3))
        assert updates(await until_present(client, story.store)) == []
        await switch(story.store, True)
        shown = updates(await until_present(client, story.store))
        assert in_match(shown[-1]) == {1: "active", 2: "active", 3: "active"}
