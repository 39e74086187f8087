"""Numbers after a restore are above all that were counted before, however often one restores what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import entrants, ids
from app.domain.ids import match_number_at, number_in_match_at, seq_at

NOW = 1_795_000_000_000  # November 2026
YEAR = 365 * 86_400_000

#: A life of the service: after so many ms it has assigned so many numbers, and is restored from the backup
#: that was taken then (by its place in the list).
_RATES = {"seq_at": 1_000.0, "number_in_match_at": 0.001, "match_number_at": 0.0001}
lives = st.lists(
    st.tuples(st.integers(1, YEAR), st.floats(0, 0.999), st.integers(0, 20)), min_size=1, max_size=10
)


@pytest.mark.parametrize("name", _RATES)
@given(lives)
def test_no_number_is_assigned_twice(name: str, steps: list[tuple[int, float, int]]) -> None:
    number_at = getattr(ids, name)
    now, last, highest, backups = NOW, 1, 1, [1]
    for passed, share, backup in steps:
        counted = int(passed * share * _RATES[name])
        now, last = now + passed, last + counted
        highest = max(highest, last)
        backups.append(last)
        last = max(backups[backup % len(backups)], number_at(now))
        assert last >= highest


def test_numbers_fit_where_they_are_stored_and_shown() -> None:
    """Until 2088: 64 and 31 bits, whole numbers of JavaScript."""
    late = NOW + 61 * YEAR
    assert seq_at(late) < 2**53
    assert number_in_match_at(late) < 2**31
    assert entrants.FIRST_STAND_IN + 2 * match_number_at(late) < 2**53


def test_numbers_rise_once_in_their_time() -> None:
    """As `app.domain.ids` says: one each microsecond, each second, every ten seconds."""
    in_a_year = [each(NOW + YEAR) - each(NOW) for each in (seq_at, number_in_match_at, match_number_at)]
    assert in_a_year == [YEAR * 1000, YEAR // 1000, YEAR // 10_000]
