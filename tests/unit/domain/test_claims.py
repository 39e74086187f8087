"""Which entry of the ledger a claim contests."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.claims import UNDECIDED, ClaimState, ClaimStep, result_entry, result_of
from app.domain.frame_types import REQUIRED_SCOPES
from app.domain.market import Result
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow

_STATUS = {
    Result.WON: LedgerStatus.SETTLED,
    Result.LOST: LedgerStatus.SETTLED,
    Result.VOID: LedgerStatus.VOIDED,
    None: LedgerStatus.PENDING,
}


def ledger(moves: list[Result | str]) -> list[LedgerEntry]:
    """The entries of a market: results, each rolled back before the next one, `rollback` and `window`."""
    entries: list[LedgerEntry] = []
    present: Result | None = None

    def add(result: Result | None, window: VoidWindow | None = None) -> None:
        nonlocal present
        statuses = _STATUS[present], _STATUS[result]
        entries.append(
            LedgerEntry(13, "", *statuses, result, "a test", void_window=window, id=len(entries) + 1)
        )
        present = result

    for move in moves:
        if move == "window":
            add(present, VoidWindow(1, 2))
            continue
        if present is not None:
            add(None)
        if isinstance(move, Result):
            add(move)
    return entries


@given(st.lists(st.sampled_from([*Result, "rollback", "window"])))
def test_it_is_the_last_one_that_gave_the_market_its_present_result(moves: list[Result | str]) -> None:
    entries = ledger(moves)
    present = entries[-1].result if entries else None
    found = result_entry(entries)
    if present is None:
        assert found is None
        return
    assert found is not None and result_of(found) is present and found.void_window is None
    later = entries[found.id :]
    assert all(entry.void_window is not None for entry in later), "nothing else changed it since"


def test_every_step_has_a_frame_and_every_final_state_a_step() -> None:
    assert {step.frame for step in ClaimStep} <= REQUIRED_SCOPES.keys()
    final = set(ClaimState) - set(UNDECIDED)
    assert {state.value for state in final} <= {step.value for step in ClaimStep}
