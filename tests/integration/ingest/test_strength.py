"""No price before both teams have a strength or an operator has allowed it, and an alert meanwhile."""

from typing import Any

import pytest
from msgspec.structs import replace

from app.commands import match_commands as c
from app.domain.entrants import Competitor
from app.domain.market import MarketStatus
from app.domain.match import Match
from app.store import entrants
from app.store.alerts import Alert, AlertKind
from app.store.connections import Store
from tests.integration.ingest.conftest import NOW, Server
from tests.support import logs, stored
from tests.support.matches import create_match, execute
from tests.support.stored import book

HOME_WINS = (1, "team=home")


async def create(store: Store, **fields: Any) -> Match:
    return await create_match(store, NOW, **{"scheduled_at": NOW, "allow_unrated": False} | fields)


async def import_team(store: Store, name: str, strength: float) -> None:
    async with store.transaction() as tx:
        await entrants.put(tx, entrants.TEAMS, [Competitor(len(name), name, strength=strength)])


async def on_sale(store: Store, match: Match) -> bool:
    return any(market.status is MarketStatus.ACTIVE for market in (await book(store, match)).values())


async def open_alerts(store: Store, match: Match) -> list[Alert]:
    return await stored.open_alerts(store, AlertKind.UNRATED_MATCH, match=match)


@pytest.mark.parametrize("home", [0.0, 1650.0])
async def test_without_both_ratings_nothing_is_offered_and_an_alert_is_open(
    store: Store, home: float
) -> None:
    match = await create(store, home_strength=home)
    assert match.suspended == ("no rating of team_b" if home else "no rating of team_a and team_b")
    assert not await on_sale(store, match)
    assert [alert.detail for alert in await open_alerts(store, match)] == [match.suspended]
    await execute(store, match, c.Rate(strength_a=home or 1600.0, strength_b=1500.0), NOW)
    assert await on_sale(store, match)
    assert await open_alerts(store, match) == []


async def test_nothing_is_offered_in_play_either(store: Store) -> None:
    match = await create(store)
    server = Server(store, match)
    await server.begin()
    await server.send(*logs.ct_win(1, 0), *logs.freeze(1, 0))
    assert not await on_sale(store, match) and await open_alerts(store, match)
    await execute(store, match, c.Rate(allow_unrated=True), NOW)
    assert await on_sale(store, match) and not await open_alerts(store, match)


async def test_an_operator_may_allow_it_at_the_creation(store: Store) -> None:
    match = await create(store, allow_unrated=True)
    assert await on_sale(store, match)
    assert await open_alerts(store, match) == []


async def test_one_known_rating_is_used(store: Store) -> None:
    strong = await create(store, home_strength=1800.0, allow_unrated=True)
    weak = await create(store, home_strength=600.0, allow_unrated=True)
    chances = [(await book(store, match))[HOME_WINS].probability for match in (strong, weak)]
    assert chances[0] > 0.5 > chances[1]


async def test_imported_ratings_count_also_when_they_come_later(store: Store) -> None:
    await import_team(store, logs.HOME, 1650.0)
    match = await create(store)
    assert match.suspended == "no rating of team_b"
    async with store.transaction() as tx:
        known = await entrants.get(tx, entrants.TEAMS, match.away_id or 0)
        assert known
        await entrants.put(tx, entrants.TEAMS, [replace(known, strength=1500.0)])
    match = await execute(store, match, c.Rate(), NOW)
    assert (match.home_strength, match.away_strength) == (1650.0, 1500.0)
    assert await on_sale(store, match)


async def test_other_teams_need_their_own_ratings(store: Store) -> None:
    match = await create(store, home_strength=1650.0, away_strength=1600.0)
    assert await on_sale(store, match)
    await execute(store, match, c.SetTeams(team_a="Copper Owls", team_b="Dune Larks", strength_a=1500.0), NOW)
    assert not await on_sale(store, match) and await open_alerts(store, match)
    reasons = {market.reason for market in (await book(store, match)).values()}
    assert reasons == {"no rating of team_b"}


async def test_the_alert_ends_with_the_match(store: Store) -> None:
    match = await create(store)
    await execute(store, match, c.Cancel(), NOW)
    assert await open_alerts(store, match) == []
