"""From rounds to a map: a Markov chain over (home's rounds, away's rounds, who won last).

`finals` gives the distribution of the map's final score from any score. Everything about the score
of a map (winner, totals, handicaps, overtime) is a sum over it, so that lines cannot contradict.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache

import msgspec

from app.domain.match import MapPlay, Side
from app.trading.model import half_of, is_pistol, last_won, logistic, money, side_logit, start_side, switched

Score = tuple[int, int]
State = tuple[int, int, int]  #: home's rounds, away's rounds, who won the last round of this half
Finals = tuple[tuple[Score, float], ...]

_OVERTIMES_AHEAD = 3  #: overtimes followed one by one; what is then still level is shared out


class Terms(msgspec.Struct, frozen=True):
    """What decides how likely rounds are on one map. `home_starts_ct` None: sides are not known yet."""

    skill: float
    side: float
    home_starts_ct: bool | None
    max_rounds: int
    overtime_rounds: int

    def decided(self, home: int, away: int) -> bool:
        return is_decided(home, away, self.max_rounds, self.overtime_rounds)

    def home_wins(self, index: int, last: int) -> float:
        """The chance that home wins the round with this index (from 0), nothing of it seen yet."""
        half, position = half_of(index, self.max_rounds, self.overtime_rounds)
        logit = self.skill + money(position + 1, last, half > 1)
        side = 0.0 if is_pistol(half, position) else self.side
        if self.home_starts_ct is None:
            return (logistic(logit + side) + logistic(logit - side)) / 2
        home_is_ct = self.home_starts_ct is not switched(half)
        return logistic(logit + (side if home_is_ct else -side))

    def carried(self, index: int, won: int) -> int:
        """What the round with this index, won by `won`, leaves for the next: nothing at a half's end."""
        _, position = half_of(index + 1, self.max_rounds, self.overtime_rounds)
        return won if position else 0


def terms(play: MapPlay, skill: float) -> Terms:
    start: Side | None = start_side(play)
    return Terms(
        skill=skill,
        side=side_logit(play.name),
        home_starts_ct=None if start is None else start == "CT",
        max_rounds=play.max_rounds,
        overtime_rounds=play.overtime_rounds,
    )


def present(play: MapPlay) -> State:
    return play.home_score, play.away_score, last_won(play)


@lru_cache(maxsize=4096)
def is_decided(home: int, away: int, max_rounds: int, overtime_rounds: int) -> bool:
    return MapPlay(
        number=1, home_score=home, away_score=away, max_rounds=max_rounds, overtime_rounds=overtime_rounds
    ).decided


@lru_cache(maxsize=2048)
def finals(given: Terms, state: State) -> Finals:
    """Each final score that can still come, with its probability; they sum to 1."""
    return tuple(_known_finals(given, state).items())


def _known_finals(given: Terms, state: State) -> dict[Score, float]:
    ended: dict[Score, float] = {}
    level: dict[State, float] = {state: 1.0}
    for _ in range(_rounds_ahead(given, state)):
        level = _play_round(given, level, ended)
        if not level:
            break
    if not ended:
        return {state[:2]: 1.0}
    return _shared_out(given, ended, sum(level.values())) if level else ended


def _shared_out(given: Terms, ended: dict[Score, float], rest: float) -> dict[Score, float]:
    """What is level even after the last overtime followed ends as overtimes do."""
    late = {score: chance for score, chance in ended.items() if sum(score) > given.max_rounds} or ended
    share = rest / sum(late.values())
    return ended | {score: chance * (1 + share) for score, chance in late.items()}


def _rounds_ahead(given: Terms, state: State) -> int:
    played = state[0] + state[1]
    overtimes = max(played - given.max_rounds, 0) // max(given.overtime_rounds, 1) + _OVERTIMES_AHEAD
    return given.max_rounds + overtimes * given.overtime_rounds - played + 1


def _play_round(given: Terms, level: dict[State, float], ended: dict[Score, float]) -> dict[State, float]:
    """One round further: every state of `level` has seen equally many rounds."""
    following: dict[State, float] = {}
    index = sum(next(iter(level))[:2])
    chances = [given.home_wins(index, last) for last in (0, 1, -1)]
    after_win, after_loss = given.carried(index, 1), given.carried(index, -1)
    possible = index >= given.max_rounds // 2
    for (home, away, last), weight in level.items():
        if possible and is_decided(home, away, given.max_rounds, given.overtime_rounds):
            ended[home, away] = ended.get((home, away), 0.0) + weight
            continue
        part = weight * chances[last]
        won, lost = (home + 1, away, after_win), (home, away + 1, after_loss)
        following[won] = following.get(won, 0.0) + part
        following[lost] = following.get(lost, 0.0) + weight - part
    return following


def chance_of(distribution: Finals, truth: Callable[[int, int], bool]) -> float:
    return sum([chance for (home, away), chance in distribution if truth(home, away)])


@lru_cache(maxsize=4096)
def reachable(home: int, away: int, max_rounds: int, overtime_rounds: int) -> frozenset[Score]:
    """Final scores that the rules still allow, overtimes followed as far as `finals` follows them."""
    even = Terms(0.0, 0.0, None, max_rounds, overtime_rounds)
    return frozenset(score for score, _ in finals(even, (home, away, 0)))


@lru_cache(maxsize=4096)
def reaches_first(given: Terms, state: State, target: int) -> float:
    """The chance that home has `target` rounds before away has."""
    home, away, last = state
    if home >= target or away >= target:
        return float(home >= target)
    chance, index = given.home_wins(home + away, last), home + away
    won = reaches_first(given, (home + 1, away, given.carried(index, 1)), target)
    lost = reaches_first(given, (home, away + 1, given.carried(index, -1)), target)
    return chance * won + (1 - chance) * lost


@lru_cache(maxsize=4096)
def scores_after(given: Terms, state: State, rounds: int) -> Finals:
    """The score after that many rounds of the map in all, with its chances."""
    home, away, last = state
    if home + away >= rounds:
        return (((home, away), 1.0),)
    chance, index = given.home_wins(home + away, last), home + away
    branches = (
        (chance, scores_after(given, (home + 1, away, given.carried(index, 1)), rounds)),
        (1 - chance, scores_after(given, (home, away + 1, given.carried(index, -1)), rounds)),
    )
    return mixture(branches)


def mixture(branches: Iterable[tuple[float, Finals]]) -> Finals:
    """One distribution from several, each with its weight."""
    sums: dict[Score, float] = {}
    for weight, branch in branches:
        for score, chance in branch:
            sums[score] = sums.get(score, 0.0) + weight * chance
    return tuple(sums.items())
