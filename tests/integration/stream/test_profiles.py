"""A profile of one of two tenants: the odds in the frames of each."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from websockets.asyncio.client import ClientConnection

from app.domain import scopes
from tests.support.stored import head
from tests.support.story import Story, offer
from tests.support.streaming import Message, subscribed, until_alive, until_present
from tests.support.tenants import give_profile, switch
from tests.support.web import IssueKey

Seen = list[tuple[str, str, float]]  #: type of the frame, status and odds of its market


@pytest.fixture
async def other(issue: IssueKey) -> str:
    """A key of another bookmaker."""
    return await issue("beta", bundles=("cs2.odds.basic",))


@pytest.fixture
async def without_market_frames(issue: IssueKey) -> str:
    """A key of the first bookmaker that sees markets in match frames alone."""
    return await issue(scopes=(scopes.READ, scopes.MARKETS, scopes.STREAM_MATCHES))


def seen(frames: list[Message]) -> Seen:
    found = [frame for frame in frames if frame["type"].startswith("market.")]
    return [(frame["type"], frame["data"]["status"], frame["data"]["odds"]) for frame in found]


@asynccontextmanager
async def listening(host: str, *keys: str) -> AsyncIterator[list[ClientConnection]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(subscribed(host, key)) for key in keys]


async def both(clients: list[ClientConnection], story: Story) -> list[Seen]:
    return [seen(await until_present(client, story.store)) for client in clients]


async def test_what_is_sent(host: str, raw: str, other: str, story: Story) -> None:
    match = await story.match(offer(1))
    async with listening(host, raw, other) as clients:
        for client in clients:
            assert seen(await until_alive(client)) == [("market.updated", "active", 1.85)]
        await give_profile(story.store, 0.25)
        assert await both(clients, story) == [[("market.updated", "active", 1.6)], []]
        await story.offer(match, offer(1, probability=0.4))
        own, others = await both(clients, story)
        assert own == [("market.updated", "active", 2.0)]
        assert others == [], "the standard odds have not changed"
        await story.offer(match, offer(1, probability=0.41, odds=offer(1).odds + 1))
        assert await both(clients, story) == [
            [("market.updated", "active", 1.951)],
            [("market.updated", "active", 2.85)],
        ]


async def test_odds_below_the_lowest_suspend_the_market(
    host: str, raw: str, other: str, story: Story
) -> None:
    match = await story.match(offer(1))
    await give_profile(story.store, 0.1, min_odds=1.5)
    async with listening(host, raw, other) as clients:
        for client in clients:
            await until_alive(client)
        for probability in (0.7, 0.5):
            await story.offer(match, offer(1, probability=probability, odds=offer(1).odds + 1))
            own, others = await both(clients, story)
            assert others == ([("market.updated", "active", 2.85)] if probability == 0.7 else [])
            shown = ("market.suspended", "suspended", 1.5), ("market.updated", "active", 1.818)
            assert own == [shown[0] if probability == 0.7 else shown[1]]


async def test_what_two_changes_between_two_looks_leave(
    host: str, raw: str, other: str, story: Story
) -> None:
    """A change that only the profile shows must not hide one before it that everybody sees."""
    match = await story.match(offer(1))
    await give_profile(story.store, 0.25)
    async with listening(host, raw, other) as clients:
        for client in clients:
            await until_alive(client)
        longer = offer(1, odds=offer(1).odds + 1)
        await story.offer(match, longer)
        await story.offer(match, offer(1, odds=longer.odds, probability=0.4))
        own, others = await both(clients, story)
    assert own[-1] == ("market.updated", "active", 2.0)
    assert others[-1] == ("market.updated", "active", 2.85)


async def test_snapshots_and_resumes_have_its_odds(host: str, raw: str, other: str, story: Story) -> None:
    match = await story.match(offer(1))
    since = await head(story.store)
    await give_profile(story.store, 0.25)
    await story.offer(match, offer(2, probability=0.4))
    async with listening(host, raw, other) as clients:
        own, others = [seen(await until_alive(client)) for client in clients]
    assert own == [("market.updated", "active", 1.6), ("market.updated", "active", 2.0)]
    assert others == [("market.updated", "active", 1.85)] * 2
    async with subscribed(host, raw, since=since) as client:
        assert [odds for _, _, odds in seen(await until_alive(client))] == [1.6, 2.0]
    async with subscribed(host, other, since=since) as client:
        assert [odds for _, _, odds in seen(await until_alive(client))] == [1.85]


async def test_matches_show_its_odds(host: str, without_market_frames: str, story: Story) -> None:
    match = await story.match(offer(1))
    async with subscribed(host, without_market_frames) as client:
        await until_alive(client)
        await give_profile(story.store, 0.25)
        frames = await until_present(client, story.store)
        await story.offer(match, offer(1, probability=0.4))
        frames += await until_present(client, story.store)
    shown = [frame["data"]["markets"][0]["odds"] for frame in frames if frame["type"] == "match.updated"]
    assert shown == [1.6, 2.0]


async def test_a_switched_type_has_its_odds(host: str, raw: str, story: Story) -> None:
    """What the tenant is sent when a type is switched off and on again has the odds of its profile, too; what
    its profile suspends is not on offer then, and a profile says nothing about a type while it is off."""
    match = await story.match(offer(1), offer(2, probability=0.9), offer(3))
    await give_profile(story.store, 0.25, min_odds=1.1)
    async with subscribed(host, raw) as client:
        await until_alive(client)
        await switch(story.store, False)
        assert seen(await until_present(client, story.store)) == [("market.suspended", "suspended", 1.6)] * 2
        await give_profile(story.store, 0.5, min_odds=1.1)
        assert seen(await until_present(client, story.store)) == []
        await story.settle(match, offer(3))
        assert [each[:2] for each in seen(await until_present(client, story.store))] == [
            ("market.updated", "settled")
        ]
        await switch(story.store, True)
        assert seen(await until_present(client, story.store)) == [
            ("market.updated", "active", 1.333),
            ("market.suspended", "suspended", 1.1),
        ]
