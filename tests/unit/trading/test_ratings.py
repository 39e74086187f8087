"""Ratings: who gains, by how much, and how sure it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.strength import MILLIS_OF_DAY, MapResult, TeamRating
from app.trading.ratings import Meeting, rating_model

MODEL = rating_model()
NOW = 1_750_000_000_000
points = st.floats(400, 2200)
spreads = st.floats(20, 600)
teams = st.builds(TeamRating, points, spreads, st.just(NOW))
scores = st.sampled_from([None, (13, 0), (13, 5), (13, 11), (19, 17), (16, 14)])


def meeting(a: TeamRating, b: TeamRating) -> Meeting:
    return Meeting(a, b, MODEL.new_form())


def won(rounds: tuple[int, int] | None = None) -> MapResult:
    return MapResult("a", rounds)


@given(teams, teams)
def test_the_chances_of_both_teams_sum_to_one(a: TeamRating, b: TeamRating) -> None:
    assert MODEL.chance(meeting(a, b), "a") + MODEL.chance(meeting(b, a), "b") == pytest.approx(1)


@given(teams, points, points)
def test_more_points_are_a_larger_chance(b: TeamRating, one: float, other: float) -> None:
    low, high = (TeamRating(value, 100, NOW) for value in sorted((one, other)))
    assert MODEL.chance(meeting(low, b)) <= MODEL.chance(meeting(high, b))


@given(teams, teams, spreads)
def test_what_is_less_sure_is_nearer_to_evens(a: TeamRating, b: TeamRating, more: float) -> None:
    sure = MODEL.chance(meeting(a, b))
    unsure = MODEL.chance(meeting(replace(a, spread=a.spread + more), b))
    assert abs(unsure - 0.5) <= abs(sure - 0.5) + 1e-12


@given(teams, teams)
def test_who_wins_without_a_score_gains(a: TeamRating, b: TeamRating) -> None:
    after = MODEL.after(meeting(a, b), won())
    assert after.a.points > a.points and after.b.points < b.points and after.form.points > 0


@given(teams, teams, scores)
def test_every_result_makes_both_teams_surer(
    a: TeamRating, b: TeamRating, rounds: tuple[int, int] | None
) -> None:
    after = MODEL.after(meeting(a, b), won(rounds))
    assert 0 < after.a.spread < a.spread and 0 < after.b.spread < b.spread
    assert (after.a.maps, after.b.maps) == (a.maps + 1, b.maps + 1)


@given(teams, teams)
def test_a_clear_result_moves_more_than_a_narrow_one(a: TeamRating, b: TeamRating) -> None:
    narrow, clear = (MODEL.after(meeting(a, b), won((13, lost))).a.points for lost in (11, 3))
    assert clear > narrow


@given(teams, spreads)
def test_the_less_a_team_is_known_the_more_it_moves(a: TeamRating, more: float) -> None:
    after = MODEL.after(meeting(a, replace(a, spread=a.spread + more)), won())
    assert after.a.points - a.points < a.points - after.b.points


def test_a_map_that_the_winner_chose_tells_less() -> None:
    even = TeamRating(1500, 200, NOW)
    own, other = (
        MODEL.after(meeting(even, even), MapResult("a", picked_by=picker)).a.points for picker in ("a", "b")
    )
    assert own < other


@given(teams, st.integers(1, 1000), st.integers(1, 1000))
def test_days_without_a_map_make_a_rating_less_sure(team: TeamRating, days: int, more: int) -> None:
    once = MODEL.aged(team, NOW + days * MILLIS_OF_DAY)
    longer = MODEL.aged(team, NOW + (days + more) * MILLIS_OF_DAY)
    assert team.spread < once.spread < longer.spread and once.points == team.points
    in_two = MODEL.aged(once, longer.at)
    assert in_two.spread == pytest.approx(longer.spread)


def test_an_earlier_moment_changes_nothing() -> None:
    team = TeamRating(1500, 200, NOW)
    assert MODEL.aged(team, NOW - MILLIS_OF_DAY) == team
