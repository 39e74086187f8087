"""Rates and sums, whatever was counted."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.analytics import TeamLine
from app.wire.views.statistics import by_map, share, team_rows

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
