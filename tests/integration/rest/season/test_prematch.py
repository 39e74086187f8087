"""What a preview shows is what was known before the match."""

from app.domain import catalogue
from app.kit.clock import to_datetime
from tests.integration.ingest.conftest import NOW
from tests.integration.rest.season.conftest import DAY, A, B, D, Get, Season


async def test_a_match_to_come_is_shown_with_all_that_was_played(season: Season, get: Get) -> None:
    seen = (await get(f"matches/od:match:{season.coming.number}/prematch"))["data"]
    assert (seen["team_a"]["name"], seen["team_b"]["name"]) == (D.name, A.name)
    assert (seen["veto"], seen["picked_maps"], seen["team_a_roster_stats"]) == ([], [], [])
    pool = [one.code for one in catalogue.load().pool(to_datetime(NOW + DAY).date())]
    assert [row["map_name"] for row in seen["global_map_stats"]] == pool
    assert [row["map_name"] for row in seen["team_b_map_stats"]] == ["all", *pool]
    team = (await get(f"teams/{season.coming.away_id}"))["data"]
    rows = {row["map_name"]: row for row in seen["team_b_map_stats"]}
    own = {"veto_matches", "pick_pct", "ban_pct", "first_kill_leaders"}
    shown = {name: {key: row[key] for key in row.keys() - own} for name, row in rows.items()}
    assert all(shown[row["map_name"]] == row for row in team["map_stats"] if row["map_name"] in shown)
    assert {name: (row["veto_matches"], row["pick_pct"], row["ban_pct"]) for name, row in rows.items()} == (
        dict.fromkeys(rows, (0, None, None))
    )
    assert {row["name"] for row in seen["team_b_roster_stats"]} == {gamer.name for gamer in A.players}
    assert [one["match_id"] for one in seen["team_b_form"]] == [
        str(one.match.id) for one in (season.back, season.series, season.old)
    ]
    assert seen["head_to_head"]["total_matches"] == 0 and seen["team_a_form"] == []


async def test_those_with_the_most_first_kills_are_named_for_each_map(season: Season, get: Get) -> None:
    seen = (await get(f"matches/od:match:{season.coming.number}/prematch"))["data"]
    players = [(await get(f"players/{one['external_id']}"))["data"] for one in seen["team_b_roster_stats"]]
    rows = {row["map_name"]: row["first_kill_leaders"] for row in seen["team_b_map_stats"]}
    assert rows["all"]
    for name, leaders in rows.items():
        counts = {
            one["id"]: row["first_kills"]
            for one in players
            for row in one["map_stats"]
            if row["map_name"] == name
        }
        most = max(counts.values(), default=0)
        assert {one["id"]: one["first_kills"] for one in leaders} == {
            player: count for player, count in counts.items() if count == most > 0
        }


async def test_a_finished_match_is_shown_as_it_was_before(season: Season, get: Get) -> None:
    seen = (await get(f"matches/{season.back.match.id}/prematch"))["data"]
    assert (seen["team_a"]["name"], seen["team_b"]["name"]) == (B.name, A.name)
    assert seen["picked_maps"] == [a_map.name for a_map in season.back.truth.maps]
    assert [one["match_id"] for one in seen["team_a_form"]] == [str(season.series.match.id)]
    assert seen["head_to_head"]["total_matches"] == 1
    played = len(season.series.truth.maps)
    assert seen["team_a_map_stats"][0]["maps_played"] == played
    assert [row["stats"]["maps_played"] for row in seen["team_a_roster_stats"]] == [played] * 5
    won = season.series.truth.winner == season.series.home_or_away(B.name)
    assert seen["team_a_form"][0]["result"] == ("won" if won else "lost")


async def test_unfinished_matches_have_no_preview_for_those_who_see_finished_ones(
    season: Season, outsider: Get
) -> None:
    for match in (season.live.match, season.coming):
        assert (await outsider(f"matches/{match.id}/prematch")).status_code == 404
    assert (await outsider(f"matches/{season.old.match.id}/prematch")).status_code == 200
