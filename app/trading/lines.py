"""The values that a count may come to (rounds of a map, a lead, kills), and the lines between them."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import add, mul, sub
from typing import overload

from propcache.api import cached_property

Measure = Callable[[int, int], int]  #: of a final score (home, away)
Score = tuple[int, int]
Finals = tuple[tuple[Score, float], ...]  #: final scores with their probabilities
Line = tuple[float, float]  #: a line, and the probability to exceed it
Tails = Sequence[float] | Mapping[int, float]  #: by index


def summed(chances: Iterable[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    """Each value once, in order."""
    sums: dict[int, float] = {}
    for value, chance in chances:
        sums[value] = sums.get(value, 0.0) + chance
    return tuple(sorted(sums.items()))


class LineSequence(Sequence[Line]):
    """Lines in order, each computed when it is read: most of a distribution's lines are far from evens, and
    nobody reads them.

    A line's place is its index in `between`; the chance to exceed it is the tail behind that. `places` are
    those of these lines. `around`: where evens is likely to be, the index before it and one after it; set to
    where it is when it has been found.
    """

    __slots__ = ("around", "between", "places", "tails")

    def __init__(
        self, between: Sequence[float], tails: Tails, places: Sequence[int], around: list[int]
    ) -> None:
        self.between, self.tails, self.places, self.around = between, tails, places, around

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Line: ...

    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...

    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        between, tails = self.between, self.tails
        if isinstance(index, slice):
            return [(between[place], tails[place + 1]) for place in self.places[index]]
        place = self.places[index]
        return between[place], tails[place + 1]

    def first_at_most(self, chance: float) -> int:
        """The index of the first line whose chance is this or less: they fall from line to line."""
        tails, places = self.tails, self.places
        low, high = 0, len(places)
        for index in self.around:
            if low <= index < high:
                low, high = (low, index) if tails[places[index] + 1] <= chance else (index + 1, high)
        while low < high:
            middle = (low + high) // 2
            if tails[places[middle] + 1] <= chance:
                high = middle
            else:
                low = middle + 1
        self.around[:] = low - 1, low
        return low

    @property
    def lines(self) -> list[float]:
        """The lines without their chances."""
        return [self.between[place] for place in self.places]


class Distribution:
    """The values of a count with their probabilities, which sum to 1."""

    def __init__(self, values: tuple[int, ...], tails: Tails, around: list[int] | None = None) -> None:
        """`values` in order, and of each the chance that the count is as high or higher, then a 0. `around`
        is as that of a `LineSequence`."""
        self._values, self._tails = values, tails
        self._around = [] if around is None else around

    @classmethod
    def of(cls, chances: Iterable[tuple[int, float]]) -> "Distribution":
        """The distribution of values with their probabilities, in any order; those of an equal value are
        added."""
        found = [one for one in summed(chances) if one[1] > 0]
        return cls(tuple([value for value, _ in found]), _tails([chance for _, chance in found]))

    def over(self, line: float) -> float:
        """The probability that the count exceeds `line`."""
        return self._tails[bisect_right(self._values, line)]

    @cached_property
    def chances(self) -> list[tuple[int, float]]:
        """Each value with its probability."""
        tails = self._tails
        return [(value, tails[at] - tails[at + 1]) for at, value in enumerate(self._values)]

    @cached_property
    def mean(self) -> float:
        return sum([value * chance for value, chance in self.chances])

    @cached_property
    def variance(self) -> float:
        mean = self.mean
        return sum([(value - mean) ** 2 * chance for value, chance in self.chances])

    def lines(self, *, of_sign: bool = True) -> LineSequence:
        """A line between each two neighbouring values, in order, with the probability to exceed it; without
        `of_sign` none that only the count's sign decides.

        Where values lie further apart, all lines between them are the same bet: of these only the one next to
        the value nearer to zero is listed.
        """
        between, every, without_sign = _between(self._values)
        return LineSequence(between, self._tails, every if of_sign else without_sign, self._around)


@lru_cache(maxsize=1024)
def _between(values: tuple[int, ...]) -> tuple[list[float], Sequence[int], Sequence[int]]:
    """The lines between neighbouring values; the indices of all, and of those that not the sign alone
    decides."""
    pairs = list(pairwise(values))
    between = [low + 0.5 if low >= 0 else high - 0.5 for low, high in pairs]
    return between, range(len(pairs)), [at for at, (low, high) in enumerate(pairs) if not low < 0 < high]


class _Means(dict[int, float]):
    """Weighted means of columns, by index, each computed when it is first read."""

    __slots__ = ("_columns", "_weights")

    def __init__(self, weights: Sequence[float], columns: Sequence[Sequence[float]]) -> None:
        self._weights, self._columns = weights, columns

    def __missing__(self, index: int) -> float:
        found: float = sum(map(mul, self._weights, self._columns[index]))
        self[index] = found
        return found


class Mixture:
    """The values of a count under each of several cases, of which only the weights change."""

    def __init__(self, values: tuple[int, ...], columns: Sequence[Sequence[float]]) -> None:
        """`columns`: for each of the `values`, and behind them, its tail in each case."""
        self._values, self._columns = values, columns
        #: Evens seldom moves from line to line of the log, and each tail that is read costs a sum.
        self._around: list[int] = []

    def under(self, weights: Sequence[float]) -> Distribution:
        """The mean over the cases; weights are positive and sum to 1."""
        return Distribution(self._values, _Means(weights, self._columns), self._around)


class FinalScores:
    """The final scores in which each of several cases may end, to be measured in more than one way."""

    def __init__(self, found: Mapping[Score, Sequence[float]]) -> None:
        """`found`: of each score its chance in every case; scores that have none are left out."""
        by_score = {score: tuple(column) for score, column in found.items() if any(column)}
        self._scores, self._columns = tuple(by_score), list(by_score.values())
        self._mixtures: dict[Measure, Mixture] = {}

    @classmethod
    def of(cls, cases: Iterable[Finals]) -> "FinalScores":
        """Each case has a score once."""
        return cls(_by_score(cases))

    def mean(self, weights: Sequence[float]) -> Finals:
        """The mean over the cases; weights are positive and sum to 1."""
        chances = [sum(map(mul, weights, column)) for column in self._columns]
        return tuple(zip(self._scores, chances, strict=True))

    def measured(self, measure: Measure) -> Mixture:
        """What `measure` may come to in each case, computed on first use."""
        known = self._mixtures.get(measure)
        if known is None:
            known = self._mixtures[measure] = self._measured(measure)
        return known

    def _measured(self, measure: Measure) -> Mixture:
        values, places = _layout(measure, self._scores)
        columns = self._columns
        tails = [[0.0] * len(columns[0])]
        for first, *others in reversed(places):
            chances: Iterable[float] = columns[first]
            for place in others:
                chances = map(add, chances, columns[place])
            tails.append(list(map(add, tails[-1], chances)))
        tails.reverse()
        return Mixture(values, tails)


def _by_score(cases: Iterable[Finals]) -> dict[Score, tuple[float, ...]]:
    """The scores that a case may end in, and of each its chance in every case."""
    # Cases mostly have the scores of the one before.
    blocks: list[tuple[tuple[Score, ...], list[tuple[float, ...]]]] = []
    for case in cases:
        scores, chances = zip(*case, strict=True)
        if not blocks or blocks[-1][0] != scores:
            blocks.append((scores, []))
        blocks[-1][1].append(chances)
    found: dict[Score, tuple[float, ...]] = {}
    missing: tuple[float, ...] = ()
    for scores, rows in blocks:
        columns, none = dict(zip(scores, zip(*rows, strict=True), strict=True)), (0.0,) * len(rows)
        every = found | columns
        found = {score: found.get(score, missing) + columns.get(score, none) for score in every}
        missing += none
    return found


@lru_cache(maxsize=4096)
def _layout(
    measure: Measure, scores: tuple[Score, ...]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """The values that these scores have, in order, and of each the places of its scores."""
    places: dict[int, list[int]] = {}
    for place, (home, away) in enumerate(scores):
        places.setdefault(measure(home, away), []).append(place)
    return tuple(sorted(places)), tuple([tuple(places[value]) for value in sorted(places)])


def _tails(chances: list[float]) -> list[float]:
    tails = list(accumulate(reversed(chances), initial=0.0))
    tails.reverse()
    return tails


def measured(measure: Measure, ends: Iterable[tuple[Score, float]]) -> Iterator[tuple[int, float]]:
    """The measure of each of these final scores, with its probability."""
    return ((measure(home, away), chance) for (home, away), chance in ends)


@lru_cache(maxsize=5120)
def counted(chances: tuple[float, ...], seen: int) -> Distribution:
    """The kills of a round or a map, given how many were seen and the chances of 0, 1, 2, … more."""
    return Distribution.of(enumerate(chances, start=seen))


#: Measures of a final score, built in because each map has hundreds of scores: the rounds or maps played, and
#: home's lead, which is negative when away is ahead.
total: Measure = add
lead: Measure = sub


def of_home(home: int, away: int) -> int:
    return home


def of_away(home: int, away: int) -> int:
    return away
