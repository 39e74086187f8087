"""What is computed once a round equals what its two results give."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.trading import map_scores
from app.trading.half_walk import economies
from app.trading.lines import Distribution, lead, measured, total
from app.trading.map_scores import (
    MapParameters,
    MapState,
    finals,
    half_scores,
    mixture,
    reaches_first,
    wins_map,
)
from app.trading.outlook import MapsAhead, RoundOutlook
from app.trading.skill import Case

PARAMETERS = MapParameters(0.0, 0.1, True, 24, 6, economies())
CASES = (Case(0.3, -0.2), Case(0.5, 0.0), Case(0.2, 0.4))


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([(0, 0, ()), (3, 2, (True,) * 5), (12, 11, (False,) * 11), (6, 6, ()), (12, 12, ())]),
    st.none() | st.integers(0, 8),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
)
def test_everything_is_the_mean_of_both_results(
    at: tuple[int, int, tuple[bool, ...]], economy: int | None, wins: list[float]
) -> None:
    state = MapState(*at)
    if not state.results:
        economy = 0
    chances = dict(zip((case.skill for case in CASES), wins, strict=True))
    outlook = RoundOutlook(CASES, PARAMETERS, state, economy)
    ahead = []
    for weight, skill in CASES:
        own = MapParameters(skill, 0.1, True, 24, 6, economies())
        for won, chance in ((True, chances[skill]), (False, 1 - chances[skill])):
            ahead.append((weight * chance, own, state.after(own, won, economy)))
    assert dict(outlook.half_scores(chances)) == pytest.approx(
        dict(mixture((weight, half_scores(own, after)) for weight, own, after in ahead)), abs=1e-12
    )
    assert outlook.reaches_first(12, chances) == pytest.approx(
        sum(weight * reaches_first(own, after, 12) for weight, own, after in ahead), abs=1e-12
    )
    assert sum(weight * outlook.map_wins(chances)[skill] for weight, skill in CASES) == pytest.approx(
        sum(weight * wins_map(own, after) for weight, own, after in ahead), abs=1e-12
    )
    fresh_finals = mixture((weight, finals(own, after)) for weight, own, after in ahead)
    found_finals = dict(outlook.finals(chances))
    assert [found_finals.get(score, 0.0) for score, _ in fresh_finals] == pytest.approx(
        [chance for _, chance in fresh_finals], abs=1e-12
    )
    for measure in (lead, total):
        found = outlook.distribution(measure, chances)
        fresh = Distribution.of(measured(measure, fresh_finals))
        for line in range(-31, 43):
            assert found.over(line + 0.5) == pytest.approx(fresh.over(line + 0.5), abs=1e-12)
        assert found.mean == pytest.approx(fresh.mean, abs=1e-9)
    ahead_of_match = MapsAhead((0, 0), 3, ((0.3, 0.6), (0.5, 0.4), (0.8, 0.9)))
    won = outlook.map_wins(chances)
    fresh_match = mixture(
        (weight, tuple(map_scores.match_finals(0, 0, 3, (won[skill], *later)).items()))
        for (weight, skill), later in zip(CASES, ahead_of_match.following, strict=True)
    )
    assert dict(outlook.match_finals(ahead_of_match, chances)) == pytest.approx(dict(fresh_match), abs=1e-12)
    for measure in (lead, total):
        of_match = outlook.match_distribution(measure, ahead_of_match, chances)
        fresh = Distribution.of(measured(measure, fresh_match))
        for line in range(-4, 5):
            assert of_match.over(line + 0.5) == pytest.approx(fresh.over(line + 0.5), abs=1e-12)
