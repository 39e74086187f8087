"""Ratings of many teams, from events in order of time."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.strength import MILLIS_OF_DAY, MapPlayed, MapResult, RatingEvent, StrengthGiven, TeamRating
from app.trading.ratings import RatingHistory, rating_model

MODEL = rating_model()
NOW = 1_750_000_000_000
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
