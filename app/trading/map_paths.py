"""The chances of a map's final scores, if rounds must end as demanded and some scores must not be passed:
round by round, for several skills at once.

`map_scores` has the same distribution without conditions, from tables that live matches share; a condition on
the way to the final score needs the walk itself. Both go through the same halves and economies.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from app.trading import half_walk
from app.trading.half_walk import Economy, Move
from app.trading.lines import Score
from app.trading.map_scores import MapParameters, MapState, finals
from app.trading.model import logistic

Chances = npt.NDArray[np.float64]  #: one for each skill
Way = Callable[[int, int], bool]  #: whether the map may pass this score (home, away)


class Start(NamedTuple):
    """A state from which a map goes on, with its weight under each skill."""

    state: MapState
    weights: Chances


class Demands(NamedTuple):
    """`results`: whether home wins the round with this number (from 1). `passes`: what each score on the way
    must fulfil, the final one of regulation included."""

    results: Mapping[int, bool] = {}
    passes: Sequence[Way] = ()


@lru_cache(maxsize=512)
def all_final_scores(
    parameters: MapParameters, skills: tuple[float, ...], state: MapState
) -> dict[Score, Chances]:
    """The chances of all final scores from one state; shared, so not to be changed."""
    return final_scores(parameters, skills, [Start(state, np.ones(len(skills)))], Demands())


def final_scores(
    parameters: MapParameters, skills: Sequence[float], starts: Iterable[Start], demands: Demands
) -> dict[Score, Chances]:
    """The chances of the final scores that the demands allow. `parameters` are the map's under any skill; all
    `starts` have as many rounds behind them. What is demanded of rounds of overtime is left to the starts."""
    found: dict[Score, Chances] = {}
    walks: list[Start] = []
    for start in starts:
        home, away = start.state.home, start.state.away
        if not all(passing(home, away) for passing in demands.passes):
            continue
        if parameters.decided(home, away):
            _add(found, (home, away), start.weights)
        elif home + away >= parameters.max_rounds:
            _add_overtime(found, parameters, skills, start)
        else:
            walks.append(start)
    if walks:
        level = _walk(found, parameters, skills, walks, demands)
        half = parameters.max_rounds // 2
        _add_overtime(found, parameters, skills, Start(MapState(half, half), level))
    return found


def _add(found: dict[Score, Chances], score: Score, chances: Chances) -> None:
    found[score] = found[score] + chances if score in found else chances


def _add_overtime(
    found: dict[Score, Chances], parameters: MapParameters, skills: Sequence[float], start: Start
) -> None:
    """From a state at or after the end of regulation."""
    if not start.weights.any():
        return
    if not parameters.overtime_rounds:
        _add(found, (start.state.home, start.state.away), start.weights)
        return
    scores, table = _overtime(parameters, tuple(skills), start.state)
    for score, chances in zip(scores, table * start.weights, strict=True):
        _add(found, score, chances)


@lru_cache(maxsize=256)
def _overtime(
    parameters: MapParameters, skills: tuple[float, ...], state: MapState
) -> tuple[list[Score], Chances]:
    """The final scores from this state, and of each its chance under each skill."""
    by_skill = [dict(finals(replace(parameters, skill=skill), state)) for skill in skills]
    scores = sorted({score for found in by_skill for score in found})
    return scores, np.array([[found.get(score, 0.0) for found in by_skill] for score in scores])


def _walk(
    found: dict[Score, Chances],
    parameters: MapParameters,
    skills: Sequence[float],
    starts: Sequence[Start],
    demands: Demands,
) -> Chances:
    """Adds the final scores of regulation, and returns the chance that it ends level. All ways are walked
    together: there is a row for each score, from the one with the fewest rounds of home on, with the weight
    of each skill and state of the economy."""
    length, most = parameters.max_rounds // 2, parameters.max_rounds // 2 + 1
    played, lowest = sum(starts[0].state[:2]), min(start.state.home for start in starts)
    ways = _begin(parameters, skills, starts, lowest)
    for number in range(played, parameters.max_rounds):
        half, position = divmod(number, length)
        step = _step(parameters, tuple(skills), half, _class_of(parameters, half, position))
        ways = _next(ways, step, demands.results.get(number + 1))
        if position + 1 == length:
            ways = ways.sum(axis=-1, keepdims=True)
        if lowest + len(ways) - 1 == most:
            _add(found, (most, number + 1 - most), ways[-1].sum(axis=-1))
            ways = ways[:-1]
        if number + 1 - lowest == most:
            _add(found, (lowest, most), ways[0].sum(axis=-1))
            ways, lowest = ways[1:], lowest + 1
        _keep_allowed(ways, lowest, number + 1, demands.passes)
    level: Chances = ways[length - lowest].sum(axis=-1)
    return level


def _begin(
    parameters: MapParameters, skills: Sequence[float], starts: Sequence[Start], lowest: int
) -> Chances:
    """The weights of the ways before their first round."""
    rows: list[tuple[int, Chances]] = []
    for state, weights in starts:
        half, _ = parameters.position(state.home, state.away)
        beliefs = [
            half_walk.belief(replace(parameters, skill=skill).half(half), state.results, state.economy)
            for skill in skills
        ]
        rows.append((state.home - lowest, np.array(beliefs) * weights[:, None]))
    ways = np.zeros((max(row for row, _ in rows) + 1, *rows[0][1].shape))
    for row, weights in rows:
        ways[row] += weights
    return ways


def _next(ways: Chances, step: "_Step", demanded: bool | None) -> Chances:
    """The ways after one more round, which home must have won, or lost, if that is demanded."""
    won = ways * step.home
    lost = ways - won
    rows, skills, states = ways.shape
    after = np.zeros((rows + 1, skills, step.won.shape[-1]))
    if demanded is not False:
        after[1:] = (won.reshape(-1, states) @ step.won).reshape(rows, skills, -1)
    if demanded is not True:
        after[:-1] += (lost.reshape(-1, states) @ step.lost).reshape(rows, skills, -1)
    return after


def _keep_allowed(ways: Chances, lowest: int, rounds: int, passes: Sequence[Way]) -> None:
    """Drop the ways that have come to a score which is not allowed."""
    for passing in passes:
        for row in range(len(ways)):
            if not passing(lowest + row, rounds - lowest - row):
                ways[row] = 0.0


class _Step(NamedTuple):
    """A round: home's chance by skill and state of the economy, and where each state leads when home wins it,
    and when it loses it."""

    home: Chances
    won: Chances
    lost: Chances


def _class_of(parameters: MapParameters, half: int, position: int) -> int:
    """The first position from which on the rounds of the half are alike, or this one."""
    economy = parameters.half(half).economy
    return min(position, max(len(economy.logits), len(economy.moves), 2) - 1)


@lru_cache(maxsize=1024)
def _step(parameters: MapParameters, skills: tuple[float, ...], half: int, position: int) -> _Step:
    """The round at this position (from 0) of a half of regulation."""
    halves = [replace(parameters, skill=skill).half(half) for skill in skills]
    economy, home_is_ct = halves[0].economy, parameters.home_is_ct(half)
    if position:
        logits = np.array(economy.logits[min(position, len(economy.logits) - 1)])
        ct = 1 / (1 + np.exp(-(logits + np.array([[one.ct_logit] for one in halves]))))
    else:
        ct = np.array([[logistic(economy.logits[0][0] + one.first_ct_logit)] for one in halves])
    ct_lost, ct_won = (_matrix(economy, economy.following(position, result)) for result in (False, True))
    if home_is_ct:
        return _Step(ct, ct_won, ct_lost)
    return _Step(1 - ct, ct_lost, ct_won)


def _matrix(economy: Economy, moves: Iterable[Move]) -> Chances:
    """Where each state leads, as rows."""
    rows = [dict(move) for move in moves]
    return np.array([[row.get(state, 0.0) for state in range(economy.size)] for row in rows])


def first_step(
    parameters: MapParameters, start: Start, chances: Chances, economy: int | None
) -> Iterator[tuple[bool, Start]]:
    """The states after the next round, which home wins with these chances; each with whether it did.
    `economy` is the state of the economy in that round, None where it was not seen."""
    for won, weights in ((True, start.weights * chances), (False, start.weights * (1 - chances))):
        yield won, Start(start.state.after(parameters, won, economy), weights)
