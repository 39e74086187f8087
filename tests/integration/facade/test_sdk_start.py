"""How many calls the start of an SDK takes, and which rate covers it."""

from collections.abc import AsyncIterator
from uuid import uuid4

import httpx
import pytest

from app.domain.entrants import Competitor, Player, Tournament
from app.domain.match import Match, Status
from app.domain.tenant import SDK_RATE_LIMIT_RPM
from app.settings import Settings
from app.store import entrants, matches
from app.store.connections import Store
from tests.sdk_client.api import Api
from tests.sdk_client.names import Names
from tests.support.facade import APRIL_2031, LOCALES, SDK, with_sdk_address
from tests.support.lengths import short_then_long
from tests.support.web import IssueKey, serving

TEAMS, SQUAD = 16, 5  #: teams of the tournament, players of a team


@pytest.fixture
async def at_sdk_address(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(with_sdk_address(settings)) as client:
        client.base_url = httpx.URL(SDK)
        yield client


async def create_season(store: Store, count: int) -> None:
    """Matches of the teams of one tournament, a tenth of them live."""
    numbers = range(1, TEAMS + 1)
    async with store.transaction() as tx:
        cup = Tournament(1, "Spring Cup", starts_at=APRIL_2031, team_ids=tuple(numbers))
        await entrants.put(tx, entrants.TOURNAMENTS, [cup])
        await entrants.put(tx, entrants.TEAMS, [Competitor(n, f"Team {n}") for n in numbers])
        squads = [Player(10 * n + i, f"p{n}.{i}", team_id=n) for n in numbers for i in range(SQUAD)]
        await entrants.put(tx, entrants.PLAYERS, squads)
        for place in range(count):
            home, away = 1 + place % TEAMS, 1 + (place + 1) % TEAMS
            match = Match(
                uuid4(),
                await matches.next_number(tx),
                f"Team {home}",
                f"Team {away}",
                cup.name,
                status=Status.LIVE if place % 10 == 0 else Status.UPCOMING,
                scheduled_at=APRIL_2031,
                home_id=home,
                away_id=away,
                tournament_id=cup.id,
            )
            await matches.insert(tx, match)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("count", short_then_long((10, 200)))
async def test_the_rate_for_sdks_covers_a_start_with_200_matches(
    at_sdk_address: httpx.AsyncClient, store: Store, issue: IssueKey, count: int
) -> None:
    """The SDK that calls most, in two languages at once: no call fails, and each is one that was expected. It
    loads a profile for each competitor that a document names, and one for each of its players."""
    await create_season(store, count)
    key = await issue(bundles=("cs2.odds.basic",), rate_limit_rpm=SDK_RATE_LIMIT_RPM)
    api = Api(at_sdk_address, key, eager=True)
    await api.identity()
    for locale in LOCALES:
        await api.catalogues(locale)
        events = await api.schedules(locale)
        assert len(set(events)) == count
        for event in events:
            await api.summary(locale, event)
            await api.fixture(locale, event)
    profile = 1 + SQUAD
    once = 4 + 1 + 1 + TEAMS * profile  # catalogues, the tournaments of the sport, the tournament
    pages = 1 + (count * 9 // 10) // Api.PAGE + 1  # matches to come, and live ones
    a_match = 2 * profile + 2 * (1 + 2 * profile)  # in the schedule, its summary, its fixture
    calls = 2 + len(LOCALES) * (once + pages + count * a_match)
    assert api.calls == calls
    assert calls * 200 / count < SDK_RATE_LIMIT_RPM
    print(f"{count} matches: {api.calls} calls")


async def test_a_client_that_caches_needs_two_calls_a_match_and_language(
    at_sdk_address: httpx.AsyncClient, store: Store, issue: IssueKey
) -> None:
    """Others load a match when the feed first names it, once in each language."""
    await create_season(store, 10)
    api = Api(at_sdk_address, await issue(bundles=("cs2.odds.basic",)))
    await api.identity()
    events = await api.schedules("en")
    before = api.calls
    for locale in LOCALES:
        names = Names(api, locale)
        for event in events * 2:
            assert await names.match(event)
    assert api.calls - before == len(LOCALES) * len(events)
