"""Previews of matches of which nothing else is known."""

import httpx
import pytest

from app.commands import match_commands as c
from app.domain.entrants import entrants_of
from app.domain.match import Match, Status
from app.store.connections import Store
from tests.integration.ingest.conftest import NOW
from tests.support.matches import create_match, execute
from tests.support.story import Story
from tests.support.web import data

DAY = 86_400_000


async def test_the_veto_decides_which_maps_are_shown(
    client: httpx.AsyncClient, store: Store, basic: dict[str, str]
) -> None:
    match = await create_match(store, NOW, home="A", away="B", event="Cup", best_of=3)
    steps = (
        c.VetoStep(action="ban", map="de_nuke", team="team_a"),
        c.VetoStep(action="pick", map="de_mirage", team="team_b"),
        c.VetoStep(action="decider", map="de_new"),
    )
    order = c.SetMaps(vetoes=steps)
    await execute(store, match, order, NOW)
    seen = await data(client, f"/cs2/v1/matches/{match.id}/prematch", basic)
    assert seen["veto"] == [
        {"action": "ban", "map_name": "de_nuke", "team": "team_a"},
        {"action": "pick", "map_name": "de_mirage", "team": "team_b"},
        {"action": "decider", "map_name": "de_new", "team": None},
    ]
    assert seen["picked_maps"] == ["de_mirage", "de_new"]
    assert [row["map_name"] for row in seen["global_map_stats"]] == ["de_mirage", "de_new"]
    for side in "ab":
        rows = seen[f"team_{side}_map_stats"]
        assert [(row["map_name"], row["maps_played"]) for row in rows] == [
            ("all", 0),
            ("de_mirage", 0),
            ("de_new", 0),
        ]


async def test_earlier_vetoes_show_which_maps_a_team_picks_and_bans(
    client: httpx.AsyncClient, store: Store, basic: dict[str, str]
) -> None:
    async def played(day: int, *steps: c.VetoStep) -> Match:
        at = NOW + day * DAY
        match = await create_match(store, at, home="A", away="B", event="Cup", best_of=3)
        if steps:
            await execute(store, match, c.SetMaps(vetoes=steps), at)
        await execute(store, match, c.AwardMatch(winner="team_a"), at)
        return match

    nuke = c.VetoStep(action="ban", map="de_nuke", team="team_a")
    for day in (1, 2):
        await played(day, nuke, c.VetoStep(action="pick", map="de_mirage", team="team_b"))
    await played(3, nuke, c.VetoStep(action="pick", map="de_ancient", team="team_a"))
    await played(4)
    shown = await played(5, *(c.VetoStep(action="pick", map=name) for name in ("de_mirage", "de_nuke")))
    seen = await data(client, f"/cs2/v1/matches/{shown.id}/prematch", basic)
    rates = {
        side: [
            (row["map_name"], row["veto_matches"], row["pick_pct"], row["ban_pct"])
            for row in seen[f"{side}_map_stats"]
        ]
        for side in ("team_a", "team_b")
    }
    assert rates == {
        "team_a": [("all", 3, None, None), ("de_mirage", 3, 0.0, 0.0), ("de_nuke", 3, 0.0, 1.0)],
        "team_b": [("all", 3, None, None), ("de_mirage", 3, 0.6667, 0.0), ("de_nuke", 3, 0.0, 0.0)],
    }


@pytest.mark.parametrize("status", [Status.UPCOMING, Status.FINISHED])
async def test_a_match_of_unknown_teams_has_generated_entrants(
    client: httpx.AsyncClient, store: Store, basic: dict[str, str], status: Status
) -> None:
    match = await Story(store).match(status=status)
    seen = await data(client, f"/cs2/v1/matches/{match.id}/prematch", basic)
    home, away = entrants_of(match).home, entrants_of(match).away
    assert (seen["team_a"]["external_id"], seen["team_b"]["name"]) == (home.id, match.away)
    assert (await data(client, f"/cs2/v1/teams/{home.id}", basic))["name"] == match.home
    meetings = await data(client, f"/cs2/v1/teams/{home.id}/h2h/{away.id}", basic)
    assert meetings["summary"]["total_matches"] == 0
    assert (await data(client, f"/cs2/v1/teams/{away.id}/extras", basic))["race_to_rates"]["sample_maps"] == 0
