"""The chart of a match and of its markets: what it has, and what a page that moves requests of it."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from app.commands.trading_commands import SetMaxMove
from app.domain import changes as c
from app.domain.ids import match_urn
from app.domain.market import Market, MarketStatus, Result
from app.domain.match import CurrentRound, MapPlay, Match, Round, Status
from app.domain.references import ReferenceStatus
from app.domain.suspension_reasons import OFF_OFFER
from app.kit.heavy_work import MOST_CALLS
from app.sites.console.match_chart import Place, place_in, reference_of, winner_of_map
from app.sites.console.site import market_path
from app.store.connections import Store
from tests.support.heavy_work import occupied_thread
from tests.support.matches import execute
from tests.support.portal import SCRIPT, Person
from tests.support.statements import recorded_statements
from tests.support.story import Story, kill

PLAY = MapPlay(1, "de_dust2", "live", home_side="CT")
SUSPENDED = MarketStatus.SUSPENDED


def winner(chance: float, **fields: object) -> Market:
    """Home to win the first map."""
    odds = Decimal(f"{0.95 / chance:.3f}")
    market = Market(6, "map=1|team=home", MarketStatus.ACTIVE, odds, chance, group="map_winner:map=1")
    return replace(market, **fields)


def path_of(match: Match) -> str:
    return f"/console/matches/{match_urn(match.number)}"


async def drawn(person: Person, path: str, since: str = "", language: str = "en") -> Any:
    response = await person.get(f"{path}/chart.json?since={since}", headers={"Accept-Language": language})
    assert response.status_code == 200, response.text
    return response.json()


async def played(story: Story, **fields: object) -> Match:
    """A map with a kill that moved its price, a suspension that play explains, and one of an operator."""
    match = await story.match(maps=(PLAY,), current=CurrentRound(1, 1, opened_at=5), **fields)
    await story.offer(match, winner(0.5))
    await story.happen(match, c.RoundLive(map=1, round=1))
    await story.happen(match, c.EventAdded(replace(kill(story.at + 1, 5), side="CT")))
    await story.offer(match, winner(0.55))
    await story.offer(match, winner(0.55, status=SUSPENDED, reason=OFF_OFFER))
    await story.offer(match, winner(0.55, status=SUSPENDED, reason=SCRIPT))
    await story.offer(match, winner(0.6))
    return match


async def test_a_chart_has_chances_prices_and_why_there_were_none(person: Person, story: Story) -> None:
    match = await played(story)
    chart = await drawn(person, path_of(match))
    assert chart["whole"] and chart["complete"] and chart["label"] == "Map 1: Northwind to win"
    assert [point[1:] for point in chart["points"]] == [
        [0.5, 1.9, "", True],
        [0.55, 1.727, "", True],
        [0.55, None, OFF_OFFER, True],
        [0.55, None, SCRIPT, False],
        [0.6, 1.583, "", True],
    ]
    facts = [
        (kind, round_number, team, side) for _, _, kind, _, _, round_number, team, side in chart["facts"]
    ]
    assert facts == [("begin", 1, None, None), ("kill", 1, "home", "CT")]
    assert chart["reference"] is None
    russian = await drawn(person, path_of(match), language="ru")
    assert russian["points"][2][3] == "В этот момент матча рынок не предлагается."


async def test_a_page_requests_what_is_newer(person: Person, store: Store, story: Story) -> None:
    match = await played(story)
    first = await drawn(person, path_of(match))
    with recorded_statements() as statements:
        same = await drawn(person, path_of(match), first["since"])
    assert (same["points"], same["facts"], same["whole"]) == ([], [], False)
    assert len([each for each in statements if 'FROM "change"' in each or "FROM change" in each]) == 1
    assert not any("match_command" in each for each in statements), "no command was given since"
    ended = Round(2, 1, 1, "home", "CT", "kills", 1, 0, story.at - 9, story.at + 5, events=(1,))
    await story.happen(match, c.RoundFinished(ended))
    await story.offer(match, winner(0.62))
    await execute(store, match, SetMaxMove(max_move=0.3), story.at + 9, by="operator tara")
    newer = await drawn(person, path_of(match), same["since"])
    assert not newer["whole"] and newer["points"][0][1] == 0.62
    assert [fact[2] for fact in newer["facts"]] == ["round", "command"]
    assert "Map 1, round 1: Northwind" in newer["facts"][0][3]
    assert (await drawn(person, path_of(match), newer["since"]))["facts"] == []


async def test_another_map_or_another_history_is_a_whole_chart(person: Person, story: Story) -> None:
    match = await played(story)
    since = (await drawn(person, path_of(match)))["since"]
    place = place_in(since)
    assert place is not None
    await story.happen(match, maps=())
    assert (await drawn(person, path_of(match), since))["whole"]
    for text in ("x", "1.2.3", "1.2.x.6:map=1", place._replace(history=place.history + 1).text, "-1.0.0.1:"):
        assert (await drawn(person, path_of(match), text))["whole"], text


async def test_what_was_before_the_map_began_is_left_out(person: Person, story: Story) -> None:
    match = await story.match(winner(0.4), winner(0.45))
    await story.offer(match, winner(0.5))
    begins = story.at + 50
    live = replace(PLAY, rounds=(Round(2, 1, 1, "home", "CT", "kills", 1, 0, begins, begins + 9),))
    await story.happen(match, maps=(live,))
    chart = await drawn(person, path_of(match))
    assert [point[:2] for point in chart["points"]] == [[begins, 0.5]]
    of_market = await drawn(person, market_path(match.number, winner(0.5).key))
    assert len(of_market["points"]) > 1, "the market's page has all that the change log has"


async def test_a_market_has_its_entries_in_its_chart(person: Person, story: Story) -> None:
    match = await played(story)
    await story.settle(match, winner(0.6), result=Result.LOST)
    chart = await drawn(person, market_path(match.number, winner(0.5).key))
    assert [(kind, text) for _, _, kind, text, *_ in chart["facts"]][-1] == (
        "settled",
        "settled: lost. by the test",
    )
    assert chart["points"][-1][1:3] == [None, None]


async def test_the_reference_is_of_what_the_chart_is_of(person: Person, story: Story) -> None:
    match = await story.match(references=ReferenceStatus("followed", 0.7), best_of=3, status=Status.UPCOMING)
    chart = await drawn(person, path_of(match))
    assert (chart["label"], chart["reference"]) == ("Northwind to win the match", 0.7)
    assert reference_of(match, (1, "team=away")) == 0.3
    of_map = reference_of(match, winner_of_map(2))
    assert of_map and of_map**2 * (3 - 2 * of_map) == pytest.approx(0.7, abs=1e-3)
    assert reference_of(match, (13, "map=1|round=1|team=home")) is None
    assert reference_of(replace(match, references=ReferenceStatus()), (1, "team=home")) is None


async def test_a_round_that_does_not_count_any_more_is_void(person: Person, story: Story) -> None:
    match = await played(story)
    ended = Round(2, 1, 1, "home", "CT", "kills", 1, 0, story.at - 9, story.at, events=(1,))
    await story.happen(match, c.RoundFinished(ended))
    since = (await drawn(person, path_of(match)))["since"]
    await story.happen(match, c.RoundsVoided(map=1, rounds=(ended,)))
    (fact,) = (await drawn(person, path_of(match), since))["facts"]
    assert fact[0] == "r2" and fact[2] == "void"


async def test_a_chart_is_bounded(person: Person, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.sites.console.match_chart.POINTS", 3)
    match = await played(story)
    chart = await drawn(person, path_of(match))
    assert not chart["complete"] and len(chart["points"]) == 3 and chart["points"][-1][1] == 0.6


def test_a_place_is_what_it_was() -> None:
    place = Place(3, 17, 2, "6:map=1|team=home")
    assert place_in(place.text) == place


async def test_operators_may_request_as_many_charts_at_once_as_they_like(
    person: Person, story: Story
) -> None:
    """The requests of a tenant's people would wait for each other, and some be refused."""
    path = path_of(await played(story))
    async with asyncio.timeout(60), asyncio.TaskGroup() as group, occupied_thread():
        charts = [group.create_task(drawn(person, path)) for _ in range(MOST_CALLS + 2)]
    assert all(chart.result()["whole"] for chart in charts)
