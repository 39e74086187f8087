"""Counts of one process in a moving window."""

from hypothesis import given
from hypothesis import strategies as st

from app.store.counters import ProcessCounters
from tests.support.clocks import ManualClock

WINDOW, LIMIT = 1000, 3


@given(st.lists(st.tuples(st.integers(0, 600), st.sampled_from("ab"))))
def test_no_window_has_more_than_the_limit(events: list[tuple[int, str]]) -> None:
    """What is counted stays within the limit of each name, what is refused is not counted, and may be counted
    when the answer says so, not before."""
    clock = ManualClock(10_000)
    counters = ProcessCounters(WINDOW, clock)
    counted: dict[str, list[int]] = {"a": [], "b": []}
    for pause, name in events:
        clock.now += pause
        recent = [at for at in counted[name] if at > clock.now - WINDOW]
        wait = counters.count(name, LIMIT)
        assert wait == (0 if len(recent) < LIMIT else recent[0] + WINDOW - clock.now)
        if not wait:
            counted[name].append(clock.now)


def test_the_oldest_names_are_forgotten() -> None:
    clock = ManualClock(10_000)
    counters = ProcessCounters(WINDOW, clock, names=2)
    assert [counters.count(name, 1) for name in "abab"] == [0, 0, WINDOW, WINDOW]
    assert counters.count("c", 1) == 0
    assert counters.count("b", 1) == WINDOW
    assert counters.count("a", 1) == 0
