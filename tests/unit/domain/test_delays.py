"""Delays counted in buckets, and percentiles of them."""

import math

from hypothesis import given
from hypothesis import strategies as st

from app.domain.delays import BOUNDS, bucket, no_counts, percentiles, total

delays = st.lists(st.floats(0.02, 800), min_size=1, max_size=200)


def counted(seconds: list[float]) -> list[int]:
    counts = no_counts()
    for each in seconds:
        counts[bucket(each)] += 1
    return counts


@given(delays)
def test_a_percentile_is_never_too_good_and_at_most_a_bucket_too_bad(seconds: list[float]) -> None:
    found = percentiles(counted(seconds))
    ordered = sorted(seconds)
    for share, shown in ((0.5, found.p50), (0.95, found.p95), (0.99, found.p99)):
        true = ordered[math.ceil(share * len(ordered)) - 1]
        assert shown is not None and true <= shown + 0.001 <= true * 1.25 + 0.003


@given(delays, delays)
def test_counts_of_processes_add_up(one: list[float], other: list[float]) -> None:
    assert total([counted(one), counted(other)]) == counted(one + other)


def test_the_first_and_the_last_bucket_are_open() -> None:
    assert bucket(0) == 0 and bucket(1e9) == len(BOUNDS) - 1


def test_whether_a_promise_of_whole_seconds_is_kept_is_exact() -> None:
    for promised in (2, 3, 30):
        assert percentiles(counted([promised])).p99 == promised
        assert (percentiles(counted([promised + 0.001])).p99 or 0) > promised


def test_nothing_has_no_percentiles() -> None:
    found = percentiles(no_counts())
    assert (found.count, found.p50, found.p99) == (0, None, None)
