"""Lists of matches as rows, and their number."""

import asyncio

from msgspec.structs import replace

from app.domain.match import MapPlay, Match, Status
from app.store import listings
from app.store.connections import Store
from app.store.listings import UNKNOWN_START, ListPosition, Window
from tests.integration.store.conftest import NewMatch
from tests.support.story import Story


async def page(store: Store, *statuses: Status, limit: int = 50) -> list[tuple[Match, ListPosition]]:
    async with store.autocommit() as tx:
        return await listings.page(tx, statuses, limit=limit, window=Window())


async def test_an_outline_shows_what_the_match_does(store: Store, new_match: NewMatch, story: Story) -> None:
    play = MapPlay(2, "de_nuke", "live", home_score=4)
    whole = await new_match(
        best_of=3, score_home=1, maps=(MapPlay(1, "de_mirage", "finished"), play), started_at=7
    )
    ((outline, place),) = await page(store, Status.LIVE)
    assert place == ListPosition(7, whole.number)
    assert outline.map and outline.map.name == "de_nuke"
    assert replace(outline, maps=()) == replace(whole, maps=())
    await story.happen(whole, score_away=1, maps=(), scheduled_at=5)
    ((outline, place),) = await page(store, Status.LIVE)
    assert (outline.score_away, outline.maps, place.at) == (1, (), 5)


async def test_an_unknown_start_comes_last(store: Store, new_match: NewMatch) -> None:
    unknown = await new_match(status=Status.DISCOVERED)
    late = await new_match(status=Status.UPCOMING, scheduled_at=9)
    soon = await new_match(status=Status.DISCOVERED, scheduled_at=1)
    found = await page(store, Status.UPCOMING, Status.DISCOVERED)
    assert [match.number for match, _ in found] == [soon.number, late.number, unknown.number]
    assert found[-1][1].at == UNKNOWN_START


async def test_totals_follow_every_write(store: Store, new_match: NewMatch, story: Story) -> None:
    async def total(*statuses: Status) -> int:
        async with store.autocommit() as tx:
            counted = await listings.total(tx, statuses, Window())
            assert counted == await listings.total(tx, statuses, Window(0, UNKNOWN_START - 1))
        return counted

    made = [await new_match(status=Status.UPCOMING, scheduled_at=at) for at in range(8)]
    assert await total(Status.UPCOMING) == 8 and await total(*Status) == 8

    async def move(match: Match, status: Status) -> None:
        await story.happen(match, status=status, started_at=match.number)

    await asyncio.gather(*(move(match, Status.LIVE) for match in made[:4]))
    await asyncio.gather(*(move(match, Status.FINISHED) for match in made[2:6]))
    assert [await total(one) for one in (Status.UPCOMING, Status.LIVE, Status.FINISHED)] == [2, 2, 4]
    await story.happen(made[7], status=Status.CANCELLED)
    assert await total(Status.CANCELLED) == 0 and await total(*Status) == 7
    async with store.transaction() as tx:
        await tx.execute("DELETE FROM match WHERE status = 'finished'")
    assert await total(*Status) == 3
