"""Which published results new entries of a ledger change, and when these were published."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.commands.execution import fingerprint, oldest_changed
from app.domain.market import Result
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow

PENDING, SETTLED, VOIDED = LedgerStatus.PENDING, LedgerStatus.SETTLED, LedgerStatus.VOIDED
WINDOW = VoidWindow(5, 9)


def entry(before: LedgerStatus, after: LedgerStatus, at: int = 0, market: int = 1) -> LedgerEntry:
    result = {PENDING: None, SETTLED: Result.WON, VOIDED: Result.VOID}[after]
    return LedgerEntry(market, "", before, after, result, "r", at=at)


def window(state: LedgerStatus, at: int = 0, *, rolled_back: bool = False) -> LedgerEntry:
    return replace(entry(state, state, at), void_window=WINDOW, window_rolled_back=rolled_back)


LEDGER = [entry(PENDING, SETTLED, 10), window(SETTLED, 20), entry(PENDING, VOIDED, 30, market=2)]


@pytest.mark.parametrize(
    ("entries", "at"),
    [
        ([entry(SETTLED, PENDING)], 10),
        ([entry(SETTLED, PENDING), entry(PENDING, SETTLED)], 10),
        ([entry(VOIDED, PENDING, market=2)], 30),
        ([entry(VOIDED, PENDING, market=2), entry(SETTLED, PENDING)], 10),
        ([window(SETTLED, rolled_back=True)], 20),
        ([replace(window(SETTLED), void_window=VoidWindow(1, 2))], 10),
        ([replace(window(PENDING), type_id=3)], None),
        ([entry(PENDING, SETTLED, market=3)], None),
        ([], None),
    ],
)
def test_what_an_entry_changes(entries: list[LedgerEntry], at: int | None) -> None:
    assert oldest_changed(entries, LEDGER) == at


def test_a_result_counts_from_its_last_publication() -> None:
    again = [*LEDGER, entry(SETTLED, PENDING, 40), entry(PENDING, SETTLED, 40)]
    assert oldest_changed([entry(SETTLED, PENDING)], again) == 40
    voided_again = [*LEDGER, window(SETTLED, 50, rolled_back=True), window(SETTLED, 60)]
    assert oldest_changed([window(SETTLED, rolled_back=True)], voided_again) == 60


class Decided:
    """Markets with the time of their result, as a ledger is written."""

    def __init__(self) -> None:
        self.ledger: list[LedgerEntry] = []
        self.results: dict[int, int] = {}
        self.clock = count(1)

    def toggle(self, market: int, status: LedgerStatus) -> None:
        """Decide an open market, or roll back the result of another."""
        at = next(self.clock)
        if market in self.results:
            del self.results[market]
            self.ledger.append(entry(SETTLED, PENDING, at, market))
        else:
            self.results[market] = at
            self.ledger.append(entry(PENDING, status, at, market))


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from([SETTLED, VOIDED])), max_size=30))
def test_every_present_result_is_known_with_its_time(steps: list[tuple[int, LedgerStatus]]) -> None:
    decided = Decided()
    for market, status in steps:
        decided.toggle(market, status)
        for each in (1, 2, 3):
            found = oldest_changed([entry(SETTLED, PENDING, market=each)], decided.ledger)
            assert found == decided.results.get(each)


def test_the_fingerprint_is_that_of_the_effect() -> None:
    found = fingerprint(LEDGER)
    assert fingerprint([replace(each, id=9, at=99, reason="other") for each in LEDGER]) == found
    changed = [LEDGER[:2], [replace(LEDGER[0], result=Result.LOST), *LEDGER[1:]], [*LEDGER, LEDGER[0]]]
    changed += [[replace(each, void_window=None) for each in LEDGER]]
    assert len({found, *map(fingerprint, changed)}) == len(changed) + 1
