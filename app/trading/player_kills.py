"""A player's kills on a map: how many follow from its final score and from what the player did before.

A player gets more kills in rounds that the team wins than in those that it loses, and some get more than
others: a player's level is what they got in earlier rounds over what was expected of them, moved towards 1 by
what is known of all players (the mean of a gamma distribution). Given the final score, kills are negative
binomial with one dispersion for all; without it they are the mean over final scores.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import prod
from operator import itemgetter, mul
from typing import NamedTuple

from app.domain.match import PlayerForm
from app.trading.coefficients import PlayerCoefficients, load
from app.trading.lines import Distribution

MOST = 60  #: kills on a map beyond which nobody gets
_STEPS = 16  #: how many means of kills are computed for one kill; those between are rounded
Means = list[tuple[float, float]]  #: means of a player's kills, each with its probability


class Duel(NamedTuple):
    """Of two players: the chances that the first one ends with more kills, and that both have as many."""

    more: float
    level: float


class PlayerRecord(NamedTuple):
    """A player's kills in some rounds, and how many were expected of anybody."""

    kills: float
    expected: float


class KillModel:
    """The model with these coefficients."""

    def __init__(self, known: PlayerCoefficients) -> None:
        self.known = known
        self._mean = (known.won + known.lost) / 2
        self._prior = known.rounds * self._mean
        self._tails = _TailsByStep(known.dispersion)

    def expected(self, won: float, lost: float) -> float:
        """A player's kills in so many rounds that the team won, and lost."""
        return self.known.won * won + self.known.lost * lost

    def form(self, account: int, matches: Iterable[tuple[int, int]]) -> PlayerForm:
        """What a player's earlier matches count now: kills and rounds of each, the newest first."""
        kills, rounds, weight = 0.0, 0.0, 1.0
        for one_kills, one_rounds in matches:
            weight *= self.known.decay
            kills += weight * one_kills
            rounds += weight * one_rounds
        return PlayerForm(account, round(kills, 3), round(rounds, 3))

    def level(self, record: PlayerRecord, form: PlayerForm | None) -> float:
        """How many times as many kills as others the player gets, by the rounds of this match and by earlier
        ones. Of those it does not count who won: it says more about the teams than about the player."""
        kills, expected = record
        if form:
            kills += form.kills
            expected += form.rounds * self._mean
        return (self._prior + kills) / (self._prior + expected)

    def count(self, means: Means, seen: int = 0, factor: float = 1.0, further: float = 0.0) -> Distribution:
        """How many kills a player may have who has `seen` so far. `means`, times a factor and with a further
        mean, are those of what is to come; less than 0 counts as 0."""
        tails_of, weights = self._tails, [chance for _, chance in means]
        to_come = [factor * mean + further for mean, _ in means]
        tails = _MeanTails(weights, [tails_of[_place(mean)] for mean in to_come])
        middle = int(sum(map(mul, to_come, weights)))
        return Distribution(_values(seen), tails, [middle - 1, middle + 1])

    def duel(self, mean: float, other: float, ahead: int) -> Duel:
        """Who of two players ends with more kills when these are the means of those to come and the first one
        is `ahead` by so many, the final score known."""
        return _duel(_place(mean), _place(other), ahead, self.known.dispersion)

    def most(self, means: Sequence[float]) -> list[float]:
        """For each of several players without kills, of whom these are the means, the chance to get more than
        every other one, the final score known."""
        tails, found = [self._tails[_place(mean)] for mean in means], [0.0] * len(means)
        for kills in range(1, MOST + 1):
            fewer = [1 - one[kills] for one in tails]
            if all_fewer := prod(fewer):
                for index, one in enumerate(tails):
                    found[index] += (one[kills] - one[kills + 1]) * all_fewer / fewer[index]
        return found


@lru_cache(maxsize=1)
def kill_model() -> KillModel:
    """The model that prices use."""
    return KillModel(load().players)


class _MeanTails(dict[int, float]):
    """The chance of at least so many kills to come, computed when it is first read: few lines are near to
    evens. `tails` are those of several cases, `weights` their probabilities."""

    __slots__ = ("_tails", "_weights")

    def __init__(self, weights: Sequence[float], tails: Sequence[tuple[float, ...]]) -> None:
        self._weights, self._tails = weights, tails

    def __missing__(self, index: int) -> float:
        found: float = sum(map(mul, self._weights, map(itemgetter(index), self._tails)))
        self[index] = found
        return found


def _place(mean: float) -> int:
    """The mean in steps; less than 0 counts as 0."""
    return 0 if mean < 0 else int(_STEPS * mean + 0.5) if mean < MOST else _STEPS * MOST


@lru_cache(maxsize=65_536)
def _duel(steps: int, others: int, ahead: int, dispersion: float) -> Duel:
    tails, own, other = _tails(steps, dispersion), _masses(steps, dispersion), _masses(others, dispersion)
    if ahead >= 0:
        # The first one has more whatever comes while the other gets fewer than `ahead`.
        return Duel(sum(map(mul, other, (1.0,) * ahead + tails[1:])), sum(map(mul, other[ahead:], own)))
    return Duel(sum(map(mul, other, tails[1 - ahead :])), sum(map(mul, other, own[-ahead:])))


@lru_cache(maxsize=_STEPS * MOST + 1)
def _masses(steps: int, dispersion: float) -> tuple[float, ...]:
    """The chances of exactly 0, 1, 2, … kills when their mean is so many steps."""
    return tuple([at_least - more for at_least, more in pairwise(_tails(steps, dispersion))])


@lru_cache(maxsize=MOST)
def _values(seen: int) -> tuple[int, ...]:
    return tuple(range(seen, seen + MOST + 1))


class _TailsByStep(dict[int, tuple[float, ...]]):
    """`_tails` by the steps of the mean, of which there are `_STEPS` times `MOST`: read so often that a cache
    of two arguments costs more."""

    __slots__ = ("_dispersion",)

    def __init__(self, dispersion: float) -> None:
        self._dispersion = dispersion

    def __missing__(self, steps: int) -> tuple[float, ...]:
        found = self[steps] = _tails(steps, self._dispersion)
        return found


@lru_cache(maxsize=_STEPS * MOST + 1)
def _tails(steps: int, dispersion: float) -> tuple[float, ...]:
    """The chances of at least 0, 1, 2, … kills, and a 0 behind them, when their mean is so many steps."""
    mean = steps / _STEPS
    if not mean:
        return (1.0, *[0.0] * (MOST + 1))
    shape, odds = mean / (dispersion - 1), 1 - 1 / dispersion
    chances = [(1 - odds) ** shape]
    for count in range(MOST):
        chances.append(chances[-1] * (count + shape) / (count + 1) * odds)
    total = sum(chances)
    tails = list(accumulate((chance / total for chance in reversed(chances)), initial=0.0))
    return tuple(reversed(tails))
