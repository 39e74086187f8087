"""How long things took, counted in fixed buckets: counts of several processes add up, and a percentile of the
sum is that of all of them, within a bucket's width.

The buckets' upper bounds are 1, 1.2, 1.5, … 8 times 10 ms, 100 ms and so on up to 800 s; what took longer is
in the last one. A percentile is reported as the upper bound of its bucket, so that it is never too good, and
at most a quarter too bad; whether it is within 2, 3 or 30 seconds is exact.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import msgspec

_STEPS = (10, 12, 15, 17.5, 20, 25, 30, 35, 40, 50, 60, 70, 80)
BOUNDS = tuple(step * scale / 1000 for scale in (1, 10, 100, 1_000, 10_000) for step in _STEPS)
Counts = list[int]  #: one for each bucket


class Percentiles(msgspec.Struct, frozen=True):
    """How many there were, and within how many seconds 50, 95 and 99 in a hundred of them were done: None
    without any."""

    count: int
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


def no_counts() -> Counts:
    return [0] * len(BOUNDS)


def bucket(seconds: float) -> int:
    """The place of the bucket for a delay."""
    return min(bisect_left(BOUNDS, seconds), len(BOUNDS) - 1)


def total(counts: Iterable[Sequence[int]]) -> Counts:
    """The sum, bucket by bucket."""
    return [sum(column) for column in zip(no_counts(), *counts, strict=True)]


def percentiles(counts: Sequence[int]) -> Percentiles:
    count = sum(counts)
    if not count:
        return Percentiles(0)
    return Percentiles(count, *(round(_percentile(counts, count, share), 3) for share in (0.5, 0.95, 0.99)))


def _percentile(counts: Sequence[int], count: int, share: float) -> float:
    reached = 0
    for place, each in enumerate(counts):
        reached += each
        if reached >= share * count:
            return BOUNDS[place]
    return BOUNDS[-1]
