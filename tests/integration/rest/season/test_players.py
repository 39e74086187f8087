"""Players and what they did, held against what was really played."""

from tests.integration.rest.season.conftest import A, B, C, D, Get, Season


async def test_players_have_what_they_did(season: Season, get: Get) -> None:
    number = season.old.match.home_id
    squad = (await get("players", team_id=f"mf:competitor:{number}"))["data"]
    assert {player["name"] for player in squad} == {gamer.name for gamer in A.players}
    accounts = {gamer.name: gamer.account for gamer in A.players}
    for player in squad:
        account = accounts[player["name"]]
        seen = (await get(f"players/{player['id']}", time_filter="all"))["data"]
        maps = [a_map for one in season.of(A) for a_map in one.truth.maps]
        mishaps = [dead for a_map in maps for played in a_map.rounds for dead in played.mishaps]
        kills = [kill for a_map in maps for played in a_map.rounds for kill in played.kills]
        fair = [kill for kill in kills if kill.side != kill.victim_side]
        row = seen["map_stats"][0]
        assert row["kills"] == sum(kill.killer == account for kill in fair)
        assert row["headshots"] == sum(kill.killer == account and kill.headshot for kill in fair)
        assert row["deaths"] == sum(kill.victim == account for kill in kills) + mishaps.count(account)
        assert row["assists"] == sum(kill.assister == account for kill in fair)
        assert row["rounds_played"] == sum(len(a_map.rounds) for a_map in maps)
        assert row["kills_per_round"] == round(row["kills"] / row["rounds_played"], 4)
        assert seen["team"] == {"id": f"mf:competitor:{number}", "external_id": number, "name": A.name}
        assert sum(one["maps_played"] for one in seen["map_stats"][1:]) == row["maps_played"] == len(maps)


async def test_pages_show_every_player_once_and_to_some_only_those_of_finished_matches(
    get: Get, outsider: Get
) -> None:
    whole = (await get("players"))["data"]
    names = {team: {gamer.name for gamer in team.players} for team in (A, B, C, D)}
    assert {player["name"] for player in whole} == set.union(*names.values())
    paged, query = [], {"limit": 4}
    while query:
        answer = await get("players", **query)
        paged += answer["data"]
        query = answer["meta"].get("next_cursor") and {"limit": 4, "cursor": answer["meta"]["next_cursor"]}
    assert paged == whole
    seen = (await outsider("players")).json()["data"]
    assert seen == [player for player in whole if player["name"] not in names[D]]
    hidden = next(player for player in whole if player["name"] in names[D])
    assert (await outsider(f"players/{hidden['id']}")).status_code == 404
    assert (await get(f"players/{hidden['id']}"))["data"]["id"] == hidden["id"]


async def test_a_team_is_named_by_its_number(outsider: Get) -> None:
    refused = await outsider("players", team_id="owls")
    assert refused.status_code == 422 and refused.json()["detail"][0]["loc"] == ["query", "team_id"]
    assert (await outsider("players", team_id="9" * 18)).json()["data"] == []
