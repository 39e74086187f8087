"""Teams, and what is counted about them, held against what was really played."""

from typing import Any
from urllib.parse import quote

import pytest

from app.sandbox.simulator.fictional_world import FictionalTeam
from tests.integration.rest.season.conftest import A, B, C, D, Get, Season
from tests.support.season import kills_of, side_of


def team_id(season: Season, team: FictionalTeam) -> int:
    for played in (*season.finished, season.live):
        if played.truth.home == team.name:
            return played.match.home_id or 0
        if played.truth.away == team.name:
            return played.match.away_id or 0
    raise AssertionError(team.name)


def counted(season: Season, team: FictionalTeam, *, lately: bool = True) -> dict[str, dict[str, Any]]:
    """A team's true statistics by map, and over all of them."""
    rows: dict[str, dict[str, Any]] = {}
    accounts = {gamer.account for gamer in team.players}
    for one in season.of(team, lately=lately):
        which = one.home_or_away(team.name)
        for a_map in one.truth.maps:
            sides = [(side_of(played, which), played.winner == which) for played in a_map.rounds]
            for name in ("all", a_map.name):
                row = rows.setdefault(
                    name, dict.fromkeys(("maps", "wins", "rounds", "ct", "ct_won", "kills"), 0)
                )
                row["maps"] += 1
                row["wins"] += a_map.winner == which
                row["rounds"] += len(sides)
                row["ct"] += sum(side == "CT" for side, _ in sides)
                row["ct_won"] += sum(side == "CT" and won for side, won in sides)
                row["kills"] += kills_of(a_map, accounts)
    return rows


def shown(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        row["map_name"]: {
            "maps": row["maps_played"],
            "wins": row["wins"],
            "rounds": row["rounds_played"],
            "ct": row["ct_rounds"],
            "ct_won": round((row["ct_round_win_pct"] or 0) * row["ct_rounds"]),
            "kills": row["kills"],
        }
        for row in rows
    }


async def test_a_team_has_what_it_played(season: Season, get: Get) -> None:
    for team in [A, B]:
        for window, lately in [("3months", True), ("6months", False), ("all", False)]:
            seen = (await get(f"teams/{team_id(season, team)}", time_filter=window))["data"]
            assert shown(seen["map_stats"]) == counted(season, team, lately=lately), (team, window)
            assert (seen["name"], seen["time_filter"]) == (team.name, window), (team, window)
            players = {player["name"] for player in seen["players"]}
            assert players == {gamer.name for gamer in team.players}, (team, window)
            row = seen["map_stats"][0]
            assert row["map_name"] == "all", (team, window)
            assert row["wins"] + row["losses"] == row["maps_played"], (team, window)
            assert row["win_rate"] == round(row["wins"] / row["maps_played"], 4), (team, window)


async def test_every_form_of_an_id_names_the_team(season: Season, get: Get) -> None:
    number = team_id(season, A)
    urn = f"mf:competitor:{number}"
    forms = (str(number), urn, quote(urn, safe=""), f"mf:team:{number}", f"od:competitor:{number}")
    seen = [(await get(f"teams/{form}"))["data"] for form in forms]
    assert {(one["id"], one["external_id"], one["name"]) for one in seen} == {(urn, number, A.name)}


async def test_unknown_teams_are_not_found(outsider: Get) -> None:
    for ref in ["9" * 18, "77", "mf:map:1", "x:y:77"]:
        for path in (f"teams/{ref}", f"teams/{ref}/extras", f"teams/{ref}/h2h/5", f"players/{ref}"):
            assert (await outsider(path)).status_code == 404, ref


async def test_an_invalid_reference_is_refused_with_the_field(outsider: Get) -> None:
    for ref in ["0", "-1", "x", "1" * 30, "mf:competitor:"]:
        for path, parameter in (
            *((f"teams/{ref}", "team_id"), (f"teams/{ref}/extras", "team_id")),
            *((f"teams/{ref}/h2h/5", "team_id"), (f"players/{ref}", "player_id")),
            (f"tournaments/{ref}", "tournament_id"),
        ):
            answer = await outsider(path)
            assert answer.status_code == 422, path
            (field,) = answer.json()["detail"]
            assert field["loc"] == ["path", parameter] and field["input"] == ref, ref


@pytest.mark.parametrize("opponent", ["x", "mf:competitor:{itself}"])
async def test_an_opponent_that_is_no_other_team_is_refused(
    season: Season, outsider: Get, opponent: str
) -> None:
    number = team_id(season, A)
    refused = await outsider(f"teams/{number}/h2h/{opponent.format(itself=number)}")
    assert refused.status_code == 422
    assert [field["loc"] for field in refused.json()["detail"]] == [["path", "opponent_id"]]


async def test_a_team_that_has_not_played_has_rates_of_nothing(season: Season, get: Get) -> None:
    number = team_id(season, D)
    (row,) = (await get(f"teams/{number}"))["data"]["map_stats"]
    rates = [value for name, value in row.items() if name.endswith(("pct", "rate", "ratio"))]
    assert row["maps_played"] == row["rounds_played"] == 0 and set(rates) == {None}
    extras = (await get(f"teams/{number}/extras"))["data"]
    no_rates = dict.fromkeys(f"race_to_{target}_win_pct" for target in (6, 9, 12))
    assert extras["race_to_rates"] == no_rates | {"sample_maps": 0}
    meetings = (await get(f"teams/{number}/h2h/{team_id(season, A)}"))["data"]
    assert (meetings["summary"]["total_matches"], meetings["aggregated"]) == (0, None)


async def test_extras_are_counted_from_the_rounds(season: Season, get: Get) -> None:
    seen = (await get(f"teams/{team_id(season, A)}/extras", time_filter="all"))["data"]
    maps = [(one.home_or_away(A.name), a_map) for one in season.of(A) for a_map in one.truth.maps]
    for target in (6, 9, 12):
        first = [
            next((r.winner for r in a_map.rounds if max(r.home_score, r.away_score) >= target), None) == which
            for which, a_map in maps
        ]
        assert seen["race_to_rates"][f"race_to_{target}_win_pct"] == round(sum(first) / len(first), 4)
    accounts = {gamer.account for gamer in A.players}
    fair = [
        kill.headshot
        for _, a_map in maps
        for played in a_map.rounds
        for kill in played.kills
        if kill.killer in accounts and kill.side != kill.victim_side
    ]
    assert seen["headshots"] == {"headshot_pct": round(sum(fair) / len(fair), 4), "sample_kills": len(fair)}
    overtimes = [a_map.winner == which for which, a_map in maps if len(a_map.rounds) > 24]
    assert seen["overtime_stats"]["ot_maps_played"] == len(overtimes)
    assert seen["overtime_stats"]["ot_maps_won"] == sum(overtimes)
    economy = seen["economy_profile"]
    bought = [played for _, a_map in maps for played in a_map.rounds if played.number not in (1, 13)]
    assert economy["sample_rounds"] == len(bought)
    kinds = ("eco", "force_buy", "full_buy")
    assert sum(economy[f"{kind}_rounds"] for kind in kinds) == len(bought)
    won = sum((economy[f"{kind}_win_pct"] or 0) * economy[f"{kind}_rounds"] for kind in kinds)
    winners = [which for which, a_map in maps for played in a_map.rounds if played.number not in (1, 13)]
    assert round(won) == sum(played.winner == which for which, played in zip(winners, bought, strict=True))
    split = seen["lan_online_split"]
    assert (split["unknown"]["matches"], split["lan"]["matches"], split["lan"]["win_rate"]) == (3, 0, None)
    assert split["unknown"]["wins"] == sum(
        one.truth.winner == one.home_or_away(A.name) for one in season.of(A)
    )


async def test_two_teams_see_each_other_in_a_mirror(season: Season, get: Get) -> None:
    one, other = team_id(season, A), team_id(season, B)
    ours = (await get(f"teams/{one}/h2h/{other}"))["data"]
    theirs = (await get(f"teams/mf:competitor:{other}/h2h/{one}"))["data"]
    assert (ours["team"], ours["opponent"]) == (theirs["opponent"], theirs["team"])
    assert ours["matches"] == theirs["matches"]
    assert [match["id"] for match in ours["matches"]] == [
        str(played.match.id) for played in (season.back, season.series)
    ]
    a, b = ours["summary"], theirs["summary"]
    assert (a["team_wins"], a["team_map_wins"]) == (b["opponent_wins"], b["opponent_map_wins"])
    assert (a["opponent_wins"], a["draws"], a["total_matches"]) == (b["team_wins"], b["draws"], 2)
    mirrored = {
        name.replace("team_a_", "team_?_").replace("team_b_", "team_a_").replace("team_?_", "team_b_"): value
        for name, value in theirs["aggregated"].items()
        if not name.startswith("race")
    }
    races = {name: value for name, value in ours["aggregated"].items() if name.startswith("race")}
    assert ours["aggregated"] == mirrored | races
    for name, value in races.items():
        assert value is None or round(value + theirs["aggregated"][name], 4) == 1


async def test_what_two_teams_did_to_each_other_is_what_was_played(season: Season, get: Get) -> None:
    seen = (await get(f"teams/{team_id(season, A)}/h2h/{team_id(season, B)}"))["data"]
    maps = [
        (one.home_or_away(A.name), a_map) for one in (season.series, season.back) for a_map in one.truth.maps
    ]
    rounds = [(which, played) for which, a_map in maps for played in a_map.rounds]
    assert seen["summary"]["team_map_wins"] == sum(a_map.winner == which for which, a_map in maps)
    counted = seen["aggregated"]
    assert (counted["total_maps"], counted["total_rounds"]) == (len(maps), len(rounds))
    assert counted["team_a_ct_rounds_won"] == sum(r.winner == which and r.side == "CT" for which, r in rounds)
    assert counted["team_b_t_rounds_won"] == sum(r.winner != which and r.side == "T" for which, r in rounds)
    pistols = [(which, r) for which, r in rounds if r.number in (1, 13)]
    assert counted["pistol_rounds_total"] == len(pistols)
    assert counted["team_a_pistol_wins"] == sum(r.winner == which for which, r in pistols)
    for target in (6, 9, 12):
        raced = [
            (which, next((r.winner for r in a_map.rounds if max(r.home_score, r.away_score) >= target), None))
            for which, a_map in maps
        ]
        won = [which == winner for which, winner in raced if winner]
        assert won, "somebody has won that many"
        assert counted[f"race_to_{target}_team_a_win_pct"] == round(sum(won) / len(won), 4)


async def test_pages_show_every_team_once(get: Get) -> None:
    whole = (await get("teams"))["data"]
    assert {team["name"] for team in whole} == {A.name, B.name, C.name, D.name}
    paged, query = [], {"limit": 1}
    while query:
        answer = await get("teams", **query)
        paged += answer["data"]
        query = answer["meta"].get("next_cursor") and {"limit": 1, "cursor": answer["meta"]["next_cursor"]}
    assert paged == whole


async def test_nothing_of_unfinished_matches_is_shown_to_those_who_see_finished_ones(
    season: Season, outsider: Get
) -> None:
    names = {team["name"] for team in (await outsider("teams")).json()["data"]}
    assert names == {A.name, B.name, C.name}
    assert (await outsider(f"teams/{team_id(season, D)}")).status_code == 404
    assert (await outsider(f"teams/{team_id(season, A)}/h2h/{team_id(season, D)}")).status_code == 404
    events = {one["name"] for one in (await outsider("tournaments")).json()["data"]}
    assert events == {"Open Cup"}
    for played in (season.live.match, season.coming):
        assert (await outsider(f"tournaments/{played.tournament_id}")).status_code == 404
