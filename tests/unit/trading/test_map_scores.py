"""The chain from rounds to maps to matches agrees with a plain walk, with itself and with published rates."""

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.match import MapPlay
from app.trading import half_walk, map_scores
from app.trading.coefficients import load
from app.trading.half_walk import Half, economies
from app.trading.lines import Finals, Score
from app.trading.map_scores import (
    MapParameters,
    MapState,
    finals,
    half_scores,
    home_wins_round,
    mixture,
    reachable,
    reaches_first,
    wins_map,
)
from app.trading.model import Skill, half_of, logistic, side_logit, switched
from app.trading.skill import posterior

SPREAD = load().maps.skill_spread
SLOW = settings(max_examples=40, deadline=None)
Form = tuple[int, int]
skills = st.sampled_from([-1.0, -0.4, -0.15, 0.0, 0.2, 0.6])
sides = st.sampled_from([-0.2, 0.0, 0.15])
formats = st.sampled_from([(24, 6), (30, 6), (24, 0), (16, 6)])


@st.composite
def parameters(draw: st.DrawFn) -> MapParameters:
    return of(draw(formats), draw(skills), draw(sides), draw(st.booleans()))


def of(
    form: Form = (24, 6), skill: float = 0.0, side: float = 0.0, home_starts_ct: bool = True
) -> MapParameters:
    return MapParameters(skill, side, home_starts_ct, *form, economies())


@st.composite
def states(draw: st.DrawFn, own: MapParameters) -> MapState:
    """A state that an undecided map can be in: results that add up, money seen or not."""
    half = own.max_rounds // 2
    home, away = draw(st.integers(0, half)), draw(st.integers(0, half))
    if own.decided(home, away):
        home = half - 1
    number, position = own.position(home, away)
    results = tuple(
        draw(st.lists(st.sampled_from([True, False, None]), min_size=position, max_size=position))
    )
    seen = position > 1 and results[-1] is not None and number < 2
    economy = draw(st.none() | st.integers(0, 8)) if seen else None
    return MapState(home, away, results, economy)


def walked(own: MapParameters, start: MapState) -> dict[Score, float]:
    """The final scores by walking on from round to round, in every state of the economy; level scores after
    the third overtime are left out."""
    number, position = own.position(start.home, start.away)
    half = own.half(number)
    known = half_walk.belief(half, start.results, start.economy) if position else (1.0,)
    ways = {(start.home, start.away, at): chance for at, chance in enumerate(known) if chance}
    ended: dict[Score, float] = defaultdict(float)
    last = own.max_rounds + 3 * own.overtime_rounds
    while ways:
        following: dict[tuple[int, int, int], float] = defaultdict(float)
        for (home, away, at), chance in ways.items():
            if own.decided(home, away):
                ended[home, away] += chance
            elif home + away < last:
                for won, part in ((True, chance), (False, chance)):
                    win, moves = _round(own, home, away, at, won)
                    score = (home + 1, away) if won else (home, away + 1)
                    for after, move in moves:
                        following[*score, after] += part * win * move
        ways = following
    return ended


def _round(own: MapParameters, home: int, away: int, at: int, won: bool) -> tuple[float, half_walk.Move]:
    """The chance of this result for home, and the states of the economy that follow."""
    number, position = own.position(home, away)
    half, home_is_ct = own.half(number), own.home_is_ct(number)
    logits = half.economy.logits[min(position, len(half.economy.logits) - 1)]
    ct = logistic(logits[at] + (half.first_ct_logit if position == 0 else half.ct_logit))
    ct_won = won is home_is_ct
    last = position == half.length - 1
    moves = ((0, 1.0),) if last else half.economy.following(position, ct_won)[at]
    return (ct if ct_won else 1 - ct), moves


@SLOW
@given(parameters(), st.data())
def test_finals_are_those_of_a_walk_through_all_rounds(own: MapParameters, data: st.DataObject) -> None:
    state = data.draw(states(own))
    found, expected = dict(finals(own, state)), walked(own, state)
    regulation = {score for score in expected if sum(score) <= own.max_rounds}
    assert {score for score in found if sum(score) <= own.max_rounds} == regulation
    for score in regulation:
        assert found[score] == pytest.approx(expected[score], abs=1e-12)
    # A level score after the last computed overtime is distributed over that overtime's ends.
    for score in found.keys() - regulation:
        assert found[score] >= expected[score] - 1e-12
        assert found[score] == pytest.approx(expected[score], abs=0.4 * (1 - sum(expected.values())) + 1e-12)


@SLOW
@given(parameters(), st.data())
def test_finals_are_a_distribution_over_decided_scores(own: MapParameters, data: st.DataObject) -> None:
    state = data.draw(states(own))
    ended = finals(own, state)
    assert sum(chance for _, chance in ended) == pytest.approx(1, abs=1e-9)
    assert len(ended) == len(dict(ended))
    for (home, away), chance in ended:
        play = MapPlay(
            number=1,
            home_score=home,
            away_score=away,
            max_rounds=own.max_rounds,
            overtime_rounds=own.overtime_rounds,
        )
        assert play.decided and home >= state.home and away >= state.away and chance > 0
    assert {score for score, _ in ended} == reachable(
        state.home, state.away, own.max_rounds, own.overtime_rounds
    )


@SLOW
@given(parameters(), st.data())
def test_a_round_is_the_mean_of_its_results(own: MapParameters, data: st.DataObject) -> None:
    """What is known before a round is the mean of what is known after it: of the final score, and of a race
    that nobody has won yet."""
    state = data.draw(states(own))
    win = home_wins_round(own, state)
    after = [(win, state.after(own, True, None)), (1 - win, state.after(own, False, None))]
    if state.economy is not None:
        return
    target = own.max_rounds // 2
    races = [lambda at: (((0, 0), reaches_first(own, at, target)),)]
    open_race = max(state.home, state.away) < target
    for expected in (lambda at: finals(own, at), *(races if open_race else ())):
        before, later = dict(expected(state)), dict(mixture((weight, expected(at)) for weight, at in after))
        assert before.keys() == later.keys()
        for score, chance in before.items():
            assert later[score] == pytest.approx(chance, abs=2e-3 if sum(score) > own.max_rounds else 1e-9)


@SLOW
@given(parameters(), st.data())
def test_exchanged_teams_exchange_the_scores(own: MapParameters, data: st.DataObject) -> None:
    state = data.draw(states(own))
    other = of((own.max_rounds, own.overtime_rounds), -own.skill, own.side, not own.home_starts_ct)
    mirrored = MapState(state.away, state.home, state.results, state.economy)
    turned = {score[::-1]: chance for score, chance in finals(other, mirrored)}
    assert turned == pytest.approx(dict(finals(own, state)))
    target = own.max_rounds // 3
    if max(state.home, state.away) < target:
        assert reaches_first(own, state, target) == pytest.approx(1 - reaches_first(other, mirrored, target))


@SLOW
@given(parameters(), st.data())
def test_more_skill_wins_more(own: MapParameters, data: st.DataObject) -> None:
    """It wins the map more often, and by more, as far as regulation can still decide by how much: who is a
    round from winning by two wins by four only through a level score, which more skill makes rarer."""
    state = data.draw(states(own))._replace(results=(), economy=None)
    if own.position(state.home, state.away)[1]:
        state = state._replace(results=(None,) * own.position(state.home, state.away)[1])
    better = of((own.max_rounds, own.overtime_rounds), own.skill + 0.05, own.side, own.home_starts_ct)
    assert wins_map(better, state) >= wins_map(own, state)
    needed = own.max_rounds // 2 + 1
    for lead in range(state.home - needed, needed - state.away):
        covers = [
            sum(chance for (home, away), chance in finals(one, state) if home - away > lead)
            for one in (own, better)
        ]
        assert covers[0] <= covers[1] + 1e-9


@SLOW
@given(parameters(), st.integers(1, 12), st.data())
def test_a_race_is_decided_by_the_rounds_that_it_takes(
    own: MapParameters, target: int, data: st.DataObject
) -> None:
    """The team that gets there first, by walking on until one has."""
    state = data.draw(states(own))
    target = min(target, own.max_rounds // 2)
    if max(state.home, state.away) >= target:
        assert reaches_first(own, state, target) == float(state.home >= target)
        return
    number, _ = own.position(state.home, state.away)
    known = half_walk.belief(own.half(number), state.results, state.economy)
    ways = {(state.home, state.away, at): chance for at, chance in enumerate(known) if chance}
    home = 0.0
    while ways:
        following: dict[tuple[int, int, int], float] = defaultdict(float)
        for (mine, theirs, at), chance in ways.items():
            for won in (True, False):
                win, moves = _round(own, mine, theirs, at, won)
                score = mine + won, theirs + (not won)
                if max(score) >= target:
                    home += chance * win * won
                    continue
                for after, move in moves:
                    following[*score, after] += chance * win * move
        ways = following
    assert reaches_first(own, state, target) == pytest.approx(home)


def test_even_teams_are_even() -> None:
    starts = [of(side=0.2, home_starts_ct=start) for start in (True, False)]
    assert sum(wins_map(one, MapState(0, 0)) for one in starts) / 2 == pytest.approx(0.5)
    assert sum(reaches_first(one, MapState(0, 0), 7) for one in starts) / 2 == pytest.approx(0.5)


def test_ct_wins_its_published_share_of_rounds() -> None:
    """Between even teams, over both halves: what the catalogue says of the map."""
    for name, rate in (("de_nuke", 0.57), ("de_inferno", 0.52), ("de_anubis", 0.46)):
        half = Half(economies().scarce, 12, side_logit(name), 0.0)
        won = sum(wins * chance for wins, chance in enumerate(half_walk.from_start(half).shares())) / 12
        assert won == pytest.approx(rate, abs=0.003)


def test_money_decides_the_round_after_the_pistol_round() -> None:
    own = of()
    after = MapState(0, 0).after(own, True, None)
    assert 0.7 < home_wins_round(own, after) < 0.9
    assert home_wins_round(own, MapState(5, 7)) == pytest.approx(0.5, abs=0.01)


def test_shape_of_a_map_is_as_published() -> None:
    """Between two teams of which nothing is known, as on the 471 maps of cs2_results_2026 and
    cs2_maps_2026_02: 20.5 rounds of regulation with a standard deviation of 2.9, overtime on 11.3 maps of
    100; the leader at half-time wins 62 % at 7:5 (130 maps), 83 % at 8:4 (111), 95 % at 9:3 (82), 95 % at
    10:2 (44)."""
    spread = [(case.weight, case.skill) for case in posterior(Skill(0.0, SPREAD), lambda _: 0.0)]
    ended = mixture((weight, finals(of(skill=skill), MapState(0, 0))) for weight, skill in spread)
    lengths = [(min(home + away, 24), chance) for (home, away), chance in ended]
    mean = sum(length * chance for length, chance in lengths)
    variance = sum((length - mean) ** 2 * chance for length, chance in lengths)
    assert mean == pytest.approx(20.51, abs=0.2)
    assert variance**0.5 == pytest.approx(2.92, abs=0.2)
    overtime = sum(chance for (home, away), chance in ended if home + away > 24)
    assert overtime == pytest.approx(0.113, abs=0.015)
    for lead, rate, count in ((7, 0.623, 130), (8, 0.829, 111), (9, 0.951, 82), (10, 0.955, 44)):
        error = (rate * (1 - rate) / count) ** 0.5
        assert wins_from_half_time(lead, spread) == pytest.approx(rate, abs=2 * error)


def wins_from_half_time(lead: int, spread: list[tuple[float, float]]) -> float:
    """How often the team wins that is ahead with so many rounds at half-time."""
    won = reached = 0.0
    for weight, skill in spread:
        halves = dict(half_scores(of(skill=skill), MapState(0, 0)))
        for home in (lead, 12 - lead):
            chance = weight * halves[home, 12 - home]
            wins = wins_map(of(skill=skill), MapState(home, 12 - home))
            reached += chance
            won += chance * (wins if home == lead else 1 - wins)
    return won / reached


def test_reachable_scores() -> None:
    assert reachable(13, 5, 24, 6) == {(13, 5)}
    assert reachable(12, 10, 24, 6) >= {(13, 10), (13, 11), (16, 14), (12, 16)}
    assert not any(home + away <= 24 for home, away in reachable(12, 12, 24, 6))
    assert reachable(11, 12, 24, 0) == {(11, 13), (12, 12)}


def test_very_long_halves_are_computed_with_money_for_all() -> None:
    ended: Finals = finals(of((60, 6), 0.3), MapState(0, 0))
    assert sum(chance for _, chance in ended) == pytest.approx(1)
    assert wins_map(of((60, 6), 0.3), MapState(0, 0)) > 0.8


def test_sides_change_at_half_time_and_in_the_middle_of_overtimes() -> None:
    sides = [switched(half_of(index, 24, 6)[0]) for index in range(36)]
    assert sides == [False] * 12 + [True] * 12 + [True] * 3 + [False] * 6 + [True] * 3


@given(st.integers(0, 1), st.integers(0, 1), st.lists(st.floats(0.01, 0.99), min_size=3, max_size=3))
def test_series_scores_are_a_distribution(home: int, away: int, chances: list[float]) -> None:
    left = chances[: 3 - home - away]
    ended = map_scores.match_finals(home, away, 3, left)
    assert abs(sum(ended.values()) - 1) < 1e-9
    assert ended.keys() == map_scores.reachable_in_match(home, away, 3, 3 - home - away)
    assert all(max(score) == 2 for score in ended)
