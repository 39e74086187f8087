"""What an entry of the settlement ledger does, by the name of its text; pure."""

from collections.abc import Iterable

from app.domain.settlement import LedgerEntry, LedgerStatus

_KINDS = {
    LedgerStatus.SETTLED: "settled",
    LedgerStatus.VOIDED: "voided",
    LedgerStatus.PENDING: "rolled_back",
}


def kind_of(entry: LedgerEntry) -> str:
    """What the entry does, by the name of its text."""
    if entry.void_window is not None:
        return "bets_restored" if entry.window_rolled_back else "bets_voided"
    return _KINDS[entry.new_status]


def withdraws(entry: LedgerEntry, ledger: Iterable[LedgerEntry]) -> LedgerEntry | None:
    """The entry that this one, a rollback, withdraws; `ledger` has the entries of its market in order."""
    if not is_reversal(entry):
        return None
    earlier = [each for each in ledger if each.id < entry.id and not is_reversal(each)]
    return next((each for each in reversed(earlier) if each.void_window == entry.void_window), None)


def is_reversal(entry: LedgerEntry) -> bool:
    """Whether the entry withdraws an earlier one."""
    return kind_of(entry) in ("rolled_back", "bets_restored")
