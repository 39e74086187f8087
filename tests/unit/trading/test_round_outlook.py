"""What is computed once a round equals what its two results give."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.trading.economy import economies
from app.trading.map_scores import (
    MapParameters,
    MapState,
    finals,
    half_scores,
    mixture,
    reaches_first,
    wins_map,
)
from app.trading.round_outlook import RoundOutlook
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
    assert dict(outlook.finals(chances)) == pytest.approx(
        dict(mixture((weight, finals(own, after)) for weight, own, after in ahead)), abs=1e-12
    )
    assert dict(outlook.half_scores(chances)) == pytest.approx(
        dict(mixture((weight, half_scores(own, after)) for weight, own, after in ahead)), abs=1e-12
    )
    assert outlook.reaches_first(12, chances) == pytest.approx(
        sum(weight * reaches_first(own, after, 12) for weight, own, after in ahead), abs=1e-12
    )
    assert sum(weight * outlook.map_wins(chances)[skill] for weight, skill in CASES) == pytest.approx(
        sum(weight * wins_map(own, after) for weight, own, after in ahead), abs=1e-12
    )
