"""Maps: the pool, and what the maps are like, held against what was really played."""

from app.domain import catalogue
from app.kit.clock import to_datetime
from tests.integration.ingest.conftest import NOW
from tests.integration.rest.season.conftest import DAY, Get, Season


async def test_the_pool_is_todays(get: Get) -> None:
    answer = await get("maps/pool")
    codes = [one.code for one in catalogue.load().pool(to_datetime(NOW + DAY).date())]
    assert answer == {"data": {"game": "cs2", "maps": codes, "count": len(codes)}}


async def test_maps_are_as_they_were_played(season: Season, get: Get) -> None:
    answer = await get("maps", time_filter="all")
    rows = {row["map_name"]: row for row in answer["data"]}
    assert answer["meta"] == {"count": len(rows)}
    assert set(rows) == {one.code for one in catalogue.load().maps}
    maps = [a_map for one in season.finished for a_map in one.truth.maps]
    for code, row in rows.items():
        played = [a_map for a_map in maps if a_map.name == code]
        rounds = [one for a_map in played for one in a_map.rounds]
        assert (row["maps_played"], row["rounds_played"]) == (len(played), len(rounds))
        if not rounds:
            rates = {value for name, value in row.items() if name.endswith("pct")}
            assert rates | {row["rounds_per_map"], row["updated_at"]} == {None}
            continue
        assert row["ct_round_win_pct"] == round(sum(one.side == "CT" for one in rounds) / len(rounds), 4)
        assert round(row["ct_round_win_pct"] + row["t_round_win_pct"], 3) == 1
        pistols = [one for one in rounds if one.number in (1, 13)]
        assert row["pistol_ct_win_pct"] == round(sum(p.side == "CT" for p in pistols) / len(pistols), 4)
        seconds = [
            (first.winner, second.winner)
            for a_map in played
            for first, second in zip(a_map.rounds, a_map.rounds[1:], strict=False)
            if first.number in (1, 13)
        ]
        won_both = sum(first == second for first, second in seconds)
        assert row["round_2_conversion_pct"] == round(won_both / len(seconds), 4)


async def test_the_live_match_does_not_count(season: Season, get: Get, outsider: Get) -> None:
    assert (await outsider("maps", time_filter="all")).json() == await get("maps", time_filter="all")
    lately = (await get("maps", time_filter="1month"))["data"]
    played = sum(len(one.truth.maps) for one in (season.series, season.back))
    assert sum(row["maps_played"] for row in lately) == played
