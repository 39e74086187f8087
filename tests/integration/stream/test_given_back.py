"""A match that a tenant gives back: the stream has every match, so nothing of it changes there."""

import pytest

from app.channels.stream.projection import Projection
from tests.integration.stream.test_types_off import of_markets, snapshot
from tests.support.stored import head
from tests.support.story import Story, offer
from tests.support.streaming import subscribed, until_alive, until_present
from tests.support.tenants import book, give_vhost


@pytest.fixture
async def with_vhost(story: Story, raw: str) -> None:
    await give_vhost(story.store)


@pytest.mark.usefixtures("with_vhost")
@pytest.mark.parametrize("of_one_match", [False, True])
async def test_its_markets_are_followed_as_before(
    host: str, raw: str, story: Story, of_one_match: bool
) -> None:
    match = await story.match(offer(1), offer(2))
    since = await head(story.store)
    async with subscribed(host, raw, str(match.id) if of_one_match else "") as client:
        assert snapshot(await until_alive(client)) == {1: "active", 2: "active"}
        await book(story.store, match, False)
        assert of_markets(await until_present(client, story.store)) == []
        await story.offer(match, offer(1, odds=offer(1).odds + 1))
        assert of_markets(await until_present(client, story.store)) == [("market.updated", 1, "active")]
        await book(story.store, match, True)
        assert of_markets(await until_present(client, story.store)) == []
    async with subscribed(host, raw, str(match.id) if of_one_match else "", since=since) as client:
        assert of_markets(await until_alive(client)) == [("market.updated", 1, "active")]
    async with subscribed(host, raw, str(match.id) if of_one_match else "") as client:
        assert snapshot(await until_alive(client)) == {1: "active", 2: "active"}


@pytest.mark.usefixtures("with_vhost")
async def test_a_booking_is_an_update_of_the_match_alone(story: Story) -> None:
    match = await story.match(offer(1), offer(2))
    projection = Projection(story.store, None)
    begun = await head(story.store)
    await projection.advance()
    for booked in (False, True):
        await book(story.store, match, booked)
        assert {one.kind for one in await projection.advance()} == {"match"}
    changed = await projection.changes_since(begun, 100)
    assert changed is not None and {row.entity for row in changed[0]} == {"match"}
