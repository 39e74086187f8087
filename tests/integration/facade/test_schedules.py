"""Schedules: which matches in which order on which page, for whom, and how long they are cached."""

from functools import partial
from itertools import count
from typing import Any
from uuid import uuid4

import httpx
import pytest
from msgspec.structs import replace

from app.access import admin
from app.domain.ids import match_urn
from app.domain.match import Match, Status
from app.store import changes, entrants, matches, tenants
from app.store.connections import Store
from tests.support.eventually import eventually
from tests.support.facade import APRIL_2031, DATE, DAY, HOME, World, detail, document
from tests.support.stored import put_entrants
from tests.support.story import Story
from tests.support.tenants import book
from tests.support.web import Headers, IssueKey

PRE = "/v1/sports/en/schedules/pre/schedule"
LIVE = "/v1/sports/en/schedules/live/schedule"
OF_DAY = f"/v1/sports/en/schedules/{DATE}/schedule"
CHANGES = "/v1/sports/en/fixtures/changes"


async def write(store: Store, *found: Match) -> None:
    async with store.transaction() as tx:
        for match in found:
            await matches.insert(tx, match)


async def save(store: Store, match: Match) -> None:
    async with store.transaction() as tx:
        await tx.write([matches.save_statement(match)])


def shown(answer: httpx.Response) -> list[str]:
    return [node.get("id") for node in document(answer, "schedule")]


async def listed(client: httpx.AsyncClient, path: str, headers: Headers, **params: Any) -> list[str]:
    return shown(await client.get(path, headers=headers, params=params))


def urns(*found: Match) -> list[str]:
    return [match_urn(match.number) for match in found]


def to_come(scheduled: list[int | None]) -> list[Match]:
    """Matches numbered from 1 in this order, discovered ones where the hour is open."""
    numbers = count(1)
    return [
        Match(
            uuid4(),
            next(numbers),
            "A",
            "B",
            "Cup",
            status=Status.DISCOVERED if at is None else Status.UPCOMING,
            scheduled_at=at,
        )
        for at in scheduled
    ]


async def test_pages_put_together_are_the_list_in_order(
    client: httpx.AsyncClient, basic: Headers, store: Store
) -> None:
    scheduled = [3000, 1000, None, 2000, 1000, None, 5000, 1000, 4000, 1000, 2000]
    found = to_come(scheduled)
    await write(store, *found)
    last = max(at for at in scheduled if at) + 1
    ordered = sorted(found, key=lambda match: (match.scheduled_at or last, match.number))
    assert await listed(client, PRE, basic) == urns(*ordered)
    for limit in (1, 2, 3, 5, 11, 12, 1000):
        pages = []
        while not pages or len(pages[-1]) == limit:
            start = sum(map(len, pages))
            pages.append(await listed(client, PRE, basic, start=start, limit=limit))
        assert [urn for page in pages for urn in page] == urns(*ordered), limit
        assert all(len(page) == limit for page in pages[:-1])


async def test_a_page_has_1000_by_default(client: httpx.AsyncClient, basic: Headers, store: Store) -> None:
    found = to_come([1000 + number for number in range(1001)])
    await write(store, *found)
    first = await listed(client, PRE, basic)
    assert first == await listed(client, PRE, basic, start=0, limit=1000) == urns(*found[:1000])
    assert await listed(client, PRE, basic, start=1000) == urns(found[1000])


@pytest.mark.parametrize(
    "wrong",
    [
        *({"start": -1}, {"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"start": "1.5"}, {"start": 2**80}),
        *({"limit": "1e2"}, {"start": "1.0"}),
    ],
)
async def test_an_invalid_page_is_422(
    client: httpx.AsyncClient, basic: Headers, wrong: dict[str, Any]
) -> None:
    (field,) = detail(await client.get(PRE, headers=basic, params=wrong), 422)
    assert field["loc"] == ["query", *wrong]


async def test_beyond_the_end_there_is_nothing(
    client: httpx.AsyncClient, basic: Headers, world: World
) -> None:
    for start in (2, 10**6, 2**62):
        assert await listed(client, PRE, basic, start=start) == []


async def test_each_schedule_has_its_states(client: httpx.AsyncClient, basic: Headers, world: World) -> None:
    by = world.matches
    assert await listed(client, PRE, basic) == urns(by[Status.UPCOMING], by[Status.DISCOVERED])
    assert await listed(client, LIVE, basic) == urns(by[Status.LIVE])
    assert await listed(client, LIVE, basic, start=5, limit=0) == urns(by[Status.LIVE]), "not paginated"
    of_day = [by[status] for status in Status if status is not Status.DISCOVERED]
    assert await listed(client, OF_DAY, basic) == urns(*of_day)


async def test_a_day_is_one_of_utc(client: httpx.AsyncClient, basic: Headers, store: Store) -> None:
    midnight = APRIL_2031 - APRIL_2031 % DAY
    found = to_come([midnight - 1, midnight, midnight + DAY - 1, midnight + DAY])
    await write(store, *found)
    assert await listed(client, OF_DAY, basic) == urns(*found[1:3])


async def test_an_invalid_day_is_422(client: httpx.AsyncClient, basic: Headers) -> None:
    for day in ["2031-02-29", "20310402", "2031-4-2", "today", "0000-01-01", "2031-W14-3"]:
        (field,) = detail(await client.get(f"/v1/sports/en/schedules/{day}/schedule", headers=basic), 422)
        assert field["loc"] == ["path", "day"] and field["input"] == day, day


async def test_a_match_that_a_tenant_unbooked_is_missing_for_it_alone(
    client: httpx.AsyncClient, basic: Headers, issue: IssueKey, store: Store, world: World
) -> None:
    other = {"X-API-Key": await issue("beta", bundles=("cs2.odds.basic",))}
    unbooked = world.matches[Status.UPCOMING], world.matches[Status.LIVE]
    for match in unbooked:
        await book(store, match, False)
    for path in (PRE, LIVE, OF_DAY):
        mine, theirs = await listed(client, path, basic), await listed(client, path, other)
        assert set(theirs) - set(mine) == set(theirs) & set(urns(*unbooked)) != set()
    for kind, root in (("summary", "match_summary"), ("fixture", "fixtures_fixture")):
        path = f"/v1/sports/en/sport_events/{match_urn(unbooked[0].number)}/{kind}"
        for key, expected in ((basic, "not_available"), (other, "booked")):
            assert document(await client.get(path, headers=key), root)[0].get("liveodds") == expected
    await book(store, unbooked[0], True)
    theirs = await listed(client, PRE, other)
    await eventually(partial(listed, client, PRE, basic), lambda mine: mine == theirs)


async def test_a_key_for_finished_matches_sees_no_others(
    client: httpx.AsyncClient, issue: IssueKey, world: World
) -> None:
    key = {"X-API-Key": await issue(bundles=("cs2.scoretock",))}
    finished = world.matches[Status.FINISHED]
    assert await listed(client, PRE, key) == []
    assert await listed(client, LIVE, key) == []
    assert await listed(client, OF_DAY, key) == urns(finished)
    for kind, root in (("summary", "match_summary"), ("fixture", "fixtures_fixture")):
        for status, match in world.matches.items():
            path = f"/v1/sports/en/sport_events/{match.id}/{kind}"
            document(await client.get(path, headers=key), root, 200 if status is Status.FINISHED else 404)


async def test_an_ended_key_is_refused_on_the_facade_too(
    client: httpx.AsyncClient, basic: Headers, store: Store
) -> None:
    assert await listed(client, LIVE, basic) == []
    async with store.transaction() as tx:
        (key_id,) = [row["id"] for row in await tx.fetch("SELECT id FROM api_key")]
        await admin.revoke_key(tx, key_id, by="tester", now=1)

    async def status() -> int:
        return (await client.get(LIVE, headers=basic)).status_code

    await eventually(status, lambda seen: seen == 403, 2)


async def test_the_etag_changes_with_anything_that_is_shown(
    client: httpx.AsyncClient, basic: Headers, store: Store, world: World
) -> None:
    async def tag(path: str) -> str:
        answer = await client.get(path, headers=basic)
        document(answer, "schedule")
        return answer.headers["etag"]

    before = await tag(PRE), await tag(LIVE)
    live, upcoming = world.matches[Status.LIVE], world.matches[Status.UPCOMING]
    await save(store, replace(live, score_home=1, last_arrived_at=5))
    await save(store, replace(upcoming, scheduled_at=APRIL_2031 + 60_000))
    await eventually(partial(tag, PRE), lambda seen: seen != before[0])
    assert await tag(LIVE) == before[1], "a schedule shows no score"
    await save(store, upcoming)
    await eventually(partial(tag, PRE), lambda seen: seen == before[0])


async def test_every_change_is_seen(
    client: httpx.AsyncClient, basic: Headers, store: Store, world: World
) -> None:
    """Whatever changes, by whatever way, soon no answer is of before it."""

    async def text(path: str) -> str:
        answer = await client.get(path, headers=basic)
        document(answer, "schedule")
        return answer.text

    async def shows(expected: str, path: str = PRE) -> None:
        await eventually(partial(text, path), lambda seen: expected in seen)

    async def hides(expected: str, path: str = PRE) -> None:
        await eventually(partial(text, path), lambda seen: expected not in seen)

    upcoming = world.matches[Status.UPCOMING]
    await shows("Northern Lights vs Iron Tide")
    await save(store, replace(upcoming, home="Renamed"))
    await shows("Renamed vs Iron Tide")
    await put_entrants(store, entrants.TEAMS, replace(HOME, country="Finland"))
    await shows("Finland")
    await put_entrants(store, entrants.TOURNAMENTS, replace(world.tournament, risk_tier=4))
    await shows('risk_tier="4"')
    async with store.transaction() as tx:
        tenant = await tenants.by_slug(tx, "acme")
        await tenants.unbook(tx, tenant.id, upcoming.id)
    await hides("Renamed")
    async with store.transaction() as tx:
        await tenants.book(tx, tenant.id, upcoming.id)
    await shows("Renamed")
    await save(store, replace(upcoming, home="Renamed", status=Status.LIVE))
    await hides("Renamed")
    await shows("Renamed", LIVE)
    await write(store, *[replace(one, number=900 + one.number) for one in to_come([1000])])
    await shows("od:match:901")
    await save(store, replace(upcoming, status=Status.FINISHED, finished_at=1))
    async with store.transaction() as tx:
        assert await matches.trim(tx, 2) == [upcoming.id]
    await hides(f'"{match_urn(upcoming.number)}"', OF_DAY)


async def test_tenants_with_the_same_bookings_share_a_rendering_and_others_never_get_it(
    client: httpx.AsyncClient, issue: IssueKey, store: Store, world: World
) -> None:
    slugs = ("alpha", "beta", "gamma")
    keys = {slug: {"X-API-Key": await issue(slug, bundles=("cs2.odds.basic",))} for slug in slugs}
    upcoming = world.matches[Status.UPCOMING]
    urn = match_urn(upcoming.number)
    for loser in slugs:
        await book(store, upcoming, False, loser)
        theirs = partial(listed, client, PRE, keys[loser])
        await eventually(theirs, lambda seen: urn not in seen)
        others = [slug for slug in slugs if slug != loser]
        answers = [await client.get(PRE, headers=keys[slug]) for slug in (*others, loser, *others)]
        assert [urn in shown(answer) for answer in answers] == [True, True, False, True, True]
        assert len({answer.headers["etag"] for answer in answers}) == 2
        await book(store, upcoming, True, loser)
        await eventually(theirs, lambda seen: urn in seen)


async def test_tournaments_follow_what_is_known(
    client: httpx.AsyncClient, basic: Headers, store: Store, world: World
) -> None:
    async def names() -> list[list[str]]:
        first = document(await client.get("/v1/sports/en/tournaments", headers=basic), "tournaments")
        path = "/v1/sports/ru/sports/od:sport:3/tournaments"
        other = document(await client.get(path, headers=basic), "sport_tournaments").find("tournaments")
        return [[node.get("name") for node in one] for one in (first, other)]

    assert await names() == [["Northern Cup 4"]] * 2
    renamed, older = replace(world.tournament, name="Renamed"), replace(world.tournament, id=3, name="Older")
    await put_entrants(store, entrants.TOURNAMENTS, renamed, older)
    await eventually(names, lambda seen: seen == [["Older", "Renamed"]] * 2)


async def test_fixture_changes_are_those_that_the_feed_published(
    client: httpx.AsyncClient, basic: Headers, store: Store, issue: IssueKey
) -> None:
    story = Story(store, count(1_800_000_000_000).__next__)  # no two changes in one millisecond
    first, second, _ = [await story.match(status=Status.UPCOMING) for _ in range(3)]
    await story.start(first)
    await story.cancel(second)
    middle = story.at
    await story.cancel(first)

    async def changed(key: Headers = basic, **params: Any) -> list[str]:
        found = document(await client.get(CHANGES, headers=key, params=params), "fixture_changes")
        assert all(node.get("update_time") for node in found)
        return [node.get("sport_event_id") for node in found]

    assert await changed() == urns(second, first), "each once, the latest last"
    assert await changed(after=middle) == urns(first)
    assert await changed(after=story.at) == []
    assert await changed(after=0) == urns(second, first)
    async with store.transaction() as tx:
        assert await changes.prune(tx, story.at)
    assert await changed() == urns(second, first), "also those that the change log no longer has"
    await book(store, first, False)
    assert await changed() == urns(second)
    assert await changed({"X-API-Key": await issue(bundles=("cs2.scoretock",))}) == []
    detail(await client.get(CHANGES, headers=basic, params={"after": "soon"}), 422)
