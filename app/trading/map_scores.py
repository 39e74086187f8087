"""From rounds to a map: a Markov chain over (home's rounds, away's rounds, who won last).

`finals` gives the distribution of the map's final score from any score. Everything about the score
of a map (winner, totals, handicaps, overtime) is a sum over it, so that lines cannot contradict.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache

import msgspec

from app.domain.match import MapPlay, Side
from app.domain.score_rules import is_decided
from app.trading.model import half_of, is_pistol, last_won, logistic, money, side_logit, start_side, switched

Score = tuple[int, int]
MapState = tuple[int, int, int]  #: home's rounds, away's rounds, who won the last round of this half
Finals = tuple[tuple[Score, float], ...]
Span = tuple[int, int]  #: the least and the most; none when the least is more

_OVERTIMES_AHEAD = 3  #: overtimes computed one by one; the rest is distributed over their outcomes


class MapParameters(msgspec.Struct, frozen=True):
    """What the chances of one map's rounds depend on. `home_starts_ct` None: sides are not known yet."""

    skill: float
    side: float
    home_starts_ct: bool | None
    max_rounds: int
    overtime_rounds: int

    def decided(self, home: int, away: int) -> bool:
        return is_decided(home, away, self.max_rounds, self.overtime_rounds)

    def home_wins(self, index: int, last: int) -> float:
        """The chance that home wins the round with this index (from 0), before it begins."""
        return _chances(self, index)[last]

    def next_last_won(self, index: int, won: int) -> int:
        """`last_won` for the round after the one with this index, won by `won`: 0 at a half's end."""
        _, position = half_of(index + 1, self.max_rounds, self.overtime_rounds)
        return won if position else 0


@lru_cache(maxsize=8192)
def _chances(parameters: MapParameters, index: int) -> tuple[float, float, float]:
    """Home's chances of the round with this index: after no round in its half, after a won one, and (at
    index -1) after a lost one."""
    half, position = half_of(index, parameters.max_rounds, parameters.overtime_rounds)
    after = [parameters.skill + money(position + 1, last, half > 1) for last in (0, 1, -1)]
    side = 0.0 if is_pistol(half, position) else parameters.side
    if parameters.home_starts_ct is None:
        none, won, lost = ((logistic(logit + side) + logistic(logit - side)) / 2 for logit in after)
    else:
        lean = side if parameters.home_starts_ct is not switched(half) else -side
        none, won, lost = (logistic(logit + lean) for logit in after)
    return none, won, lost


def map_parameters(play: MapPlay, skill: float) -> MapParameters:
    start: Side | None = start_side(play)
    return MapParameters(
        skill=skill,
        side=side_logit(play.name),
        home_starts_ct=None if start is None else start == "CT",
        max_rounds=play.max_rounds,
        overtime_rounds=play.overtime_rounds,
    )


def map_state(play: MapPlay) -> MapState:
    return play.home_score, play.away_score, last_won(play)


@lru_cache(maxsize=2048)
def finals(parameters: MapParameters, state: MapState) -> Finals:
    """Each final score that can still come, with its probability; they sum to 1."""
    form = parameters.max_rounds, parameters.overtime_rounds
    ended, level = _walk(
        parameters, state, lambda index: _undecided(index, *form), _last_round(parameters, state)
    )
    if not ended:
        return ((state[:2], 1.0),)
    return tuple((_share_out(parameters, ended, level) if level else ended).items())


@lru_cache(maxsize=2048)
def wins_map(parameters: MapParameters, state: MapState) -> float:
    """Home's chance to win the map; a level end, where the format has one, counts half for each."""
    return sum(
        chance * (1.0 if home > away else 0.5)
        for (home, away), chance in finals(parameters, state)
        if home >= away
    )


def _walk(
    parameters: MapParameters, state: MapState, open_at: Callable[[int], Span], until: int
) -> tuple[dict[Score, float], float]:
    """Play on from `state`, round by round, until so many have been played: the scores at which play ends,
    with their chances, and the chance that it does not.

    `open_at` returns between which of home's rounds, both included, play goes on when so many rounds have
    been played. `won` and `lost` are the row of states after that many rounds, by home's rounds: with the
    last round won and lost by home.
    """
    first, away, last = state
    ended: dict[Score, float] = {}
    won, lost = ([1.0], [0.0]) if last > 0 else ([0.0], [1.0])
    for index in range(first + away, until):
        least, most = open_at(index)
        while won and first < least:
            ended[first, index - first] = won.pop(0) + lost.pop(0)
            first += 1
        while won and first + len(won) - 1 > most:
            home = first + len(won) - 1
            ended[home, index - home] = won.pop() + lost.pop()
        if not won:
            break
        none, ahead, behind = _chances(parameters, index)
        if not last:
            ahead = behind = none
        last = 1
        wins = [up * ahead + down * behind for up, down in zip(won, lost, strict=True)]
        losses = [up + down - win for up, down, win in zip(won, lost, wins, strict=True)]
        won, lost = [0.0, *wins], [*losses, 0.0]
    return ended, sum(won) + sum(lost)


@lru_cache(maxsize=1024)
def _undecided(index: int, max_rounds: int, overtime_rounds: int) -> Span:
    """Between which of home's rounds a map is not decided after `index` rounds."""
    homes = [
        home for home in range(index + 1) if not is_decided(home, index - home, max_rounds, overtime_rounds)
    ]
    return (homes[0], homes[-1]) if homes else (1, 0)


def _share_out(parameters: MapParameters, ended: dict[Score, float], rest: float) -> dict[Score, float]:
    """The chance of a level score after the last computed overtime, distributed over the ends in overtime."""
    late = {score: chance for score, chance in ended.items() if sum(score) > parameters.max_rounds} or ended
    share = rest / sum(late.values())
    return ended | {score: chance * (1 + share) for score, chance in late.items()}


def _last_round(parameters: MapParameters, state: MapState) -> int:
    """How many rounds are computed one by one."""
    played = state[0] + state[1]
    overtimes = (
        max(played - parameters.max_rounds, 0) // max(parameters.overtime_rounds, 1) + _OVERTIMES_AHEAD
    )
    return parameters.max_rounds + overtimes * parameters.overtime_rounds + 1


def chance_of(distribution: Finals, condition: Callable[[int, int], bool]) -> float:
    return sum([chance for (home, away), chance in distribution if condition(home, away)])


@lru_cache(maxsize=4096)
def reachable(home: int, away: int, max_rounds: int, overtime_rounds: int) -> frozenset[Score]:
    """Final scores that the rules still allow, with as many overtimes as `finals` computes."""
    even = MapParameters(0.0, 0.0, None, max_rounds, overtime_rounds)
    return frozenset(score for score, _ in finals(even, (home, away, 0)))


@lru_cache(maxsize=4096)
def reaches_first(parameters: MapParameters, state: MapState, target: int) -> float:
    """The chance that home has `target` rounds before away has."""
    if max(state[:2]) >= target:
        return float(state[0] >= target)
    ended, _ = _walk(parameters, state, lambda index: (index - target + 1, target - 1), 2 * target)
    return sum(chance for (home, _), chance in ended.items() if home >= target)


@lru_cache(maxsize=4096)
def scores_after(parameters: MapParameters, state: MapState, rounds: int) -> Finals:
    """The score after `rounds` rounds of the map in all, with its chances."""
    played = state[0] + state[1]
    if played >= rounds:
        return ((state[:2], 1.0),)
    ended, _ = _walk(parameters, state, lambda index: (0, index) if index < rounds else (1, 0), rounds + 1)
    return tuple(ended.items())


def mixture(branches: Iterable[tuple[float, Finals]]) -> Finals:
    """One distribution from several, each with its weight."""
    sums: dict[Score, float] = {}
    for weight, branch in branches:
        for score, chance in branch:
            sums[score] = sums.get(score, 0.0) + weight * chance
    return tuple(sums.items())
