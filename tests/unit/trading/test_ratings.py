"""Ratings: who gains, by how much, and how sure it is.

Ratings of many teams, from events in order of time.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.strength import MILLIS_OF_DAY, MapPlayed, MapResult, RatingEvent, StrengthGiven, TeamRating
from app.trading.ratings import Meeting, Normal, RatingHistory, rating_model
from scripts.reality.series import map_scores

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


TEAMS = 5


def history(
    ratings: dict[int, TeamRating] | None = None, forms: dict[str, object] | None = None
) -> RatingHistory:
    return RatingHistory(MODEL, lambda _, at: MODEL.unlisted(at), ratings, forms)  # type: ignore[arg-type]


@st.composite
def events(draw: st.DrawFn) -> list[RatingEvent]:
    made: list[RatingEvent] = []
    for number in range(draw(st.integers(1, 25))):
        at = NOW + number * draw(st.integers(0, 3)) * MILLIS_OF_DAY
        a, b = sorted(draw(st.sets(st.integers(1, TEAMS), min_size=2, max_size=2)))
        if draw(st.integers(0, 9)) == 0:
            made.append(StrengthGiven(str(number), at, a, draw(st.floats(500, 2000))))
        else:
            result = MapResult(
                draw(st.sampled_from(["a", "b"])), None, 24, draw(st.sampled_from(["", "a", "b"]))
            )
            made.append(MapPlayed(str(number), at, str(draw(st.integers(0, 3))), a, b, result))
    return sorted(made, key=lambda event: event.at)


@given(events(), st.integers(0, 25))
def test_what_is_stored_is_all_that_the_rest_needs(made: list[RatingEvent], cut: int) -> None:
    whole = history()
    for event in made:
        whole.apply(event)
    first = history()
    for event in made[:cut]:
        first.apply(event)
    second = history(dict(first.ratings), dict(first.forms))
    for event in made[cut:]:
        second.apply(event)
    assert second.ratings == whole.ratings


@given(events())
def test_the_outcome_is_the_rating_of_the_teams_of_the_event(made: list[RatingEvent]) -> None:
    rated = history()
    for event in made:
        outcome = rated.apply(event)
        assert [rated.ratings[team] for team in event.teams] == [
            one for one in (outcome.a, outcome.b) if one is not None
        ]
        assert all(one.at == event.at for one in (outcome.a, outcome.b) if one)


def test_a_given_strength_begins_anew() -> None:
    rated = history()
    rated.apply(MapPlayed("1", NOW, "m", 1, 2, MapResult("a", (13, 2))))
    rated.apply(StrengthGiven("2", NOW, 1, 1700.0, 50.0))
    assert rated.ratings[1] == TeamRating(1700.0, 50.0, NOW, anchored=True)


@given(st.floats(800, 2000), st.integers(0, 400))
def test_newer_points_inform_a_rating_that_began_with_points(newer: float, days: int) -> None:
    rated = history()
    rated.apply(StrengthGiven("1", NOW, 1, 1500.0))
    rated.apply(MapPlayed("2", NOW, "m", 1, 2, MapResult("a", (13, 2))))
    at = NOW + days * MILLIS_OF_DAY
    before = rated.rating(1, at)
    rated.apply(StrengthGiven("3", at, 1, newer))
    after, given_ = rated.ratings[1], MODEL.of_strength(newer, at)
    low, high = sorted((before.points, newer))
    assert low - 1e-6 <= after.points <= high + 1e-6
    assert after.spread == pytest.approx(min(before.spread, given_.spread))
    assert (after.at, after.maps, after.anchored) == (at, 1, True)


def test_points_begin_a_rating_that_only_results_made() -> None:
    """Such a rating has no place on the ranking's scale."""
    rated = history()
    rated.apply(MapPlayed("1", NOW, "m", 1, 2, MapResult("a", (13, 2))))
    rated.apply(StrengthGiven("2", NOW, 1, 1700.0))
    assert rated.ratings[1] == MODEL.of_strength(1700.0, NOW)


def test_the_same_points_again_make_a_rating_no_surer() -> None:
    rated = history()
    for number in range(50):
        rated.apply(StrengthGiven(str(number), NOW, 1, 1700.0))
    assert rated.ratings[1].spread == pytest.approx(MODEL.of_strength(1700.0, NOW).spread)


@given(teams, teams)
def test_skill_has_the_form_of_the_day(a: TeamRating, b: TeamRating) -> None:
    mean, variance = MODEL.skill(a, b, 24)
    difference = MODEL.difference(meeting(a, b))
    assert variance * difference.mean**2 == pytest.approx(difference.variance * mean**2, abs=1e-9)


def test_a_shared_form_makes_a_two_nil_likelier_than_independent_maps() -> None:
    known = Normal(0.0, 0.05)
    ends, single = map_scores(known, 3), map_scores(known, 1)
    assert single[1, 0] == pytest.approx(0.5, abs=1e-6)
    assert 0.52 < ends[2, 0] + ends[0, 2] < 0.56
    assert sum(ends.values()) == pytest.approx(1)


@given(st.floats(-2, 2), st.floats(0.02, 0.8))
@settings(max_examples=10, deadline=None)
def test_a_match_has_the_chance_of_a_map_that_ratings_say(mean: float, variance: float) -> None:
    """The match's market of one map, priced by the chain of rounds, beside the rating's logistic."""
    scale = MODEL.coefficients.points_per_logit
    spread = (variance / 2) ** 0.5 * scale
    a, b = TeamRating(mean * scale, spread, NOW), TeamRating(0.0, spread, NOW)
    said = map_scores(Normal(mean, variance), 1)[1, 0]
    assert said == pytest.approx(MODEL.chance(meeting(a, b)), abs=0.012)


def test_the_form_of_a_day_is_the_matchs() -> None:
    same, other = history(), history()
    for rated, series in ((same, "m"), (other, "n")):
        rated.apply(MapPlayed("1", NOW, "m", 1, 2, MapResult("a")))
        rated.apply(MapPlayed("2", NOW, series, 1, 2, MapResult("a")))
    assert same.ratings[1].points < other.ratings[1].points


def test_without_a_strength_it_takes_maps_to_be_rated() -> None:
    rated = history()
    for number in range(10):
        assert number == 0 or not rated.ratings[1].sufficient
        rated.apply(MapPlayed(str(number), NOW + number, str(number), 1, 2, MapResult("a")))
    assert rated.ratings[1].sufficient
