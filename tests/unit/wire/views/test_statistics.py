"""Rates and sums, whatever was counted.

What a map is like, from two lines for each time that it was played.
"""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.analytics import TeamLine
from app.wire.views.statistics import by_map, map_view, share, team_rows

counts = st.integers(0, 30)
lines = st.builds(
    lambda wins, losses, ct, won_ct, t, won_t, kills, deaths: TeamLine(
        maps=wins + losses,
        wins=wins,
        losses=losses,
        rounds_ct=ct + won_ct,
        won_ct=won_ct,
        rounds_t=t + won_t,
        won_t=won_t,
        kills=kills,
        deaths=deaths,
    ),
    *[counts] * 8,
)
played = st.lists(st.tuples(st.sampled_from(["de_nuke", "de_mirage", "de_inferno"]), lines))


@given(counts, counts)
def test_a_share_of_nothing_is_no_number(part: int, whole: int) -> None:
    rate = share(min(part, whole), whole)
    assert rate is None if whole == 0 else rate is not None and 0 <= rate <= 1


@given(played)
def test_all_maps_are_the_sum_of_each(lines_by_map: list[tuple[str, TeamLine]]) -> None:
    every, *maps = team_rows(lines_by_map)
    assert every.map_name == "all"
    assert [row.map_name for row in maps] == sorted({name for name, _ in lines_by_map})
    for field in ("maps_played", "wins", "losses", "rounds_played", "ct_rounds", "kills", "deaths"):
        assert getattr(every, field) == sum(getattr(row, field) for row in maps)
    for row in (every, *maps):
        assert row.ct_rounds + row.t_rounds == row.rounds_played
        assert (row.win_rate is None) == (row.maps_played == 0)
        assert (row.ct_round_win_pct is None) == (row.ct_rounds == 0)


@given(played, played)
def test_it_does_not_matter_in_which_order_maps_were_played(
    first: list[tuple[str, TeamLine]], then: list[tuple[str, TeamLine]]
) -> None:
    assert by_map(TeamLine, first + then) == by_map(TeamLine, then + first)


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
