"""What a map is like, from two lines for each time that it was played."""

from app.domain.analytics import TeamLine
from app.wire.views.statistics import map_view


def test_each_time_counts_once_though_both_teams_report_it() -> None:
    home = TeamLine(maps=1, wins=1, rounds_ct=12, won_ct=9, rounds_t=10, won_t=4, overtimes=1)
    away = TeamLine(maps=1, losses=1, rounds_ct=10, won_ct=6, rounds_t=12, won_t=3, overtimes=1)
    drawn = TeamLine(maps=1, rounds_ct=12, won_ct=6, rounds_t=12, won_t=6)
    seen = map_view("de_nuke", "Nuke", True, [home, away, drawn, drawn], None)
    assert (seen.maps_played, seen.rounds_played, seen.rounds_per_map) == (2, 46, 23)
    assert (seen.ct_round_win_pct, seen.t_round_win_pct) == (round(27 / 46, 4), round(19 / 46, 4))
    assert (seen.overtime_pct, seen.pistol_ct_win_pct) == (0.5, None)


def test_a_map_that_nobody_played_has_rates_of_nothing() -> None:
    seen = map_view("de_nuke", "Nuke", False, [], None)
    assert (seen.maps_played, seen.rounds_played) == (0, 0)
    assert {seen.rounds_per_map, seen.ct_round_win_pct, seen.overtime_pct} == {None}
