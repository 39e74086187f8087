"""The chain from rounds to maps to matches agrees with itself and with published figures."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.match import MapPlay
from app.trading import match_scores
from app.trading.map_scores import (
    MapParameters,
    MapState,
    chance_of,
    finals,
    reachable,
    reaches_first,
    scores_after,
)
from app.trading.model import half_of, side_logit, switched

skills = st.floats(-1, 1)
formats = st.sampled_from([(24, 6), (30, 6), (24, 0), (16, 6)])


def parameters(skill: float = 0.0, *, side: float = 0.1, form: tuple[int, int] = (24, 6)) -> MapParameters:
    return MapParameters(skill, side, True, *form)


@st.composite
def states(draw: st.DrawFn, half: int) -> MapState:
    home, away = draw(st.integers(0, half)), draw(st.integers(0, half))
    return home, away, draw(st.sampled_from([-1, 0, 1]))


@given(skills, formats, st.data())
def test_finals_are_a_distribution_over_decided_scores(
    skill: float, form: tuple[int, int], data: st.DataObject
) -> None:
    state = data.draw(states(form[0] // 2))
    ended = finals(parameters(skill, form=form), state)
    assert abs(sum(chance for _, chance in ended) - 1) < 1e-9
    for (home, away), _ in ended:
        play = MapPlay(
            number=1, home_score=home, away_score=away, max_rounds=form[0], overtime_rounds=form[1]
        )
        assert play.decided and home >= state[0] and away >= state[1]


@given(skills, formats, st.data())
def test_a_round_is_the_mean_of_its_results(skill: float, form: tuple[int, int], data: st.DataObject) -> None:
    """The price before a round is the mean of the prices after it."""
    own_parameters = parameters(skill, form=form)
    home, away, last = data.draw(states(form[0] // 2))
    if own_parameters.decided(home, away):
        return
    index = home + away
    chance = own_parameters.home_wins(index, last)
    wins = partial(chance_of, condition=lambda mine, theirs: mine > theirs)
    won = wins(finals(own_parameters, (home + 1, away, own_parameters.next_last_won(index, 1))))
    lost = wins(finals(own_parameters, (home, away + 1, own_parameters.next_last_won(index, -1))))
    assert abs(wins(finals(own_parameters, (home, away, last))) - chance * won - (1 - chance) * lost) < 2e-3


@given(st.floats(-1, 0.99), formats)
def test_more_skill_wins_more(skill: float, form: tuple[int, int]) -> None:
    def win(skill: float) -> float:
        return chance_of(finals(parameters(skill, form=form), (0, 0, 0)), lambda home, away: home > away)

    assert win(skill + 0.01) > win(skill)


def test_even_teams_are_even() -> None:
    for unknown in (MapParameters(0.0, 0.2, None, 24, 6),):
        assert chance_of(finals(unknown, (0, 0, 0)), lambda h, a: h > a) == pytest.approx(0.5)
        assert reaches_first(unknown, (0, 0, 0), 7) == pytest.approx(0.5)


def test_shape_of_a_map_is_as_published() -> None:
    """Between evenly matched teams: 21.5 to 23.1 rounds on average, overtime on 8 to 16 maps of 100."""
    for name in ("de_nuke", "de_inferno", "de_anubis"):
        ended = finals(parameters(side=side_logit(name)), (0, 0, 0))
        mean = sum((home + away) * chance for (home, away), chance in ended)
        overtime = chance_of(ended, lambda home, away: home + away > 24)
        assert 21.5 <= mean <= 23.1
        assert 0.08 <= overtime <= 0.165


def test_reachable_scores() -> None:
    assert reachable(13, 5, 24, 6) == {(13, 5)}
    assert reachable(12, 10, 24, 6) >= {(13, 10), (13, 11), (16, 14), (12, 16)}
    assert not any(home + away <= 24 for home, away in reachable(12, 12, 24, 6))
    assert reachable(11, 12, 24, 0) == {(11, 13), (12, 12)}


@given(skills, st.integers(1, 12), st.data())
def test_a_race_follows_from_scores(skill: float, target: int, data: st.DataObject) -> None:
    """Who reaches the target first is who has it when the shorter race to both is run out."""
    own_parameters = parameters(skill)
    state = data.draw(states(min(target - 1, 11)))
    horizon = 2 * target - 1
    ahead = scores_after(own_parameters, state, horizon)
    home = chance_of(ahead, lambda home, away: home >= target)
    assert reaches_first(own_parameters, state, target) == pytest.approx(home)


def test_sides_change_at_half_time_and_in_the_middle_of_overtimes() -> None:
    sides = [switched(half_of(index, 24, 6)[0]) for index in range(36)]
    assert sides == [False] * 12 + [True] * 12 + [True] * 3 + [False] * 6 + [True] * 3


@given(st.integers(0, 1), st.integers(0, 1), st.lists(st.floats(0.01, 0.99), min_size=3, max_size=3))
def test_series_scores_are_a_distribution(home: int, away: int, chances: list[float]) -> None:
    left = chances[: 3 - home - away]
    ended = match_scores.finals(home, away, 3, left)
    assert abs(sum(ended.values()) - 1) < 1e-9
    assert ended.keys() == match_scores.reachable(home, away, 3, 3 - home - away)
    assert all(max(score) == 2 for score in ended)
