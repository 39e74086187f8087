"""The values that a count may come to (rounds of a map, a lead, kills), and the lines between them."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from operator import mul

Measure = Callable[[int, int], int]  #: of a final score (home, away)


def summed(chances: Iterable[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    """Each value once, in order."""
    sums: dict[int, float] = {}
    for value, chance in chances:
        sums[value] = sums.get(value, 0.0) + chance
    return tuple(sorted(sums.items()))


class Distribution:
    """The values of a count with their probabilities, which sum to 1."""

    def __init__(self, values: Sequence[int], tails: Sequence[float]) -> None:
        """`values` in order, and of each the chance that the count is as high or higher, then a 0."""
        self._values, self._tails = values, tails

    @classmethod
    def of(cls, chances: Iterable[tuple[int, float]]) -> "Distribution":
        """That of values with their probabilities, in any order; a value's probabilities add up."""
        found = [one for one in summed(chances) if one[1] > 0]
        return cls([value for value, _ in found], _tails(chance for _, chance in found))

    def over(self, line: float) -> float:
        """The probability that the count exceeds `line`."""
        return self._tails[bisect_right(self._values, line)]

    @cached_property
    def _found(self) -> list[tuple[int, float]]:
        chances = (high - low for high, low in pairwise(self._tails))
        return list(zip(self._values, chances, strict=True))

    @cached_property
    def mean(self) -> float:
        return sum(value * chance for value, chance in self._found)

    @cached_property
    def variance(self) -> float:
        mean = self.mean
        return sum((value - mean) ** 2 * chance for value, chance in self._found)

    def lines(self, *, of_sign: bool = True) -> list[tuple[float, float]]:
        """A line between each two neighbouring values, in order, with the probability to exceed it; without
        `of_sign` none that only the count's sign decides.

        Where values lie further apart, all lines between them are the same bet: the one next to the value
        nearer to zero stands for them.
        """
        between, sign = _between(tuple(self._values))
        lines = list(zip(between, self._tails[1:], strict=False))
        if sign is not None and not of_sign:
            del lines[sign]
        return lines


@lru_cache(maxsize=1024)
def _between(values: tuple[int, ...]) -> tuple[list[float], int | None]:
    """The lines between neighbouring values, and which of them only the sign decides."""
    between = [low + 0.5 if low >= 0 else high - 0.5 for low, high in pairwise(values)]
    signs = [index for index, (low, high) in enumerate(pairwise(values)) if low < 0 < high]
    return between, signs[0] if signs else None


class Mixture:
    """The values of a count under each of several cases, of which only the weights change."""

    def __init__(self, cases: Iterable[Iterable[tuple[int, float]]]) -> None:
        found = [dict(summed(case)) for case in cases]
        self._values = sorted({value for case in found for value, chance in case.items() if chance > 0})
        tails = [_tails(case.get(value, 0.0) for value in self._values) for case in found]
        self._columns = list(zip(*tails, strict=True))

    def under(self, weights: Sequence[float]) -> Distribution:
        """The mean over the cases; weights are positive and sum to 1."""
        return Distribution(self._values, [sum(map(mul, weights, column)) for column in self._columns])


def _tails(chances: Iterable[float]) -> list[float]:
    return [*reversed(list(accumulate(reversed(list(chances))))), 0.0]


def measured(measure: Measure, ends: Iterable[tuple[tuple[int, int], float]]) -> Iterator[tuple[int, float]]:
    """The measure of each of these final scores, with its probability."""
    return ((measure(home, away), chance) for (home, away), chance in ends)


def total(home: int, away: int) -> int:
    return home + away


def lead(home: int, away: int) -> int:
    """Home's lead; negative when away is ahead."""
    return home - away


def of_home(home: int, away: int) -> int:
    return home


def of_away(home: int, away: int) -> int:
    return away
