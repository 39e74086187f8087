"""Which published results a command changes, and when they were published; pure."""

import hashlib
from collections.abc import Iterable

import msgspec

from app.domain.market import MarketKey
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow

_encode = msgspec.json.encode


def oldest_changed(entries: Iterable[LedgerEntry], ledger: Iterable[LedgerEntry]) -> int | None:
    """When the oldest of the results was published (Unix ms) that `entries` would change, if they were added
    to this ledger; None if they change none.

    A result is that of a market, or the void of the bets of a window. Bets that are voided on a market with a
    result change that result.
    """
    results, windows = _published(ledger)
    changed = []
    for entry in entries:
        if entry.void_window is not None and entry.window_rolled_back:
            changed.append(windows.get((entry.key, entry.void_window)))
        elif entry.void_window is not None or entry.previous_status is not LedgerStatus.PENDING:
            changed.append(results.get(entry.key))
    return min((at for at in changed if at is not None), default=None)


def _published(
    ledger: Iterable[LedgerEntry],
) -> tuple[dict[MarketKey, int], dict[tuple[MarketKey, VoidWindow], int]]:
    """When the present result of each market, and the void of each window, was published."""
    results: dict[MarketKey, int] = {}
    windows: dict[tuple[MarketKey, VoidWindow], int] = {}
    for entry in ledger:
        if entry.void_window is not None:
            if entry.window_rolled_back:
                windows.pop((entry.key, entry.void_window), None)
            else:
                windows[entry.key, entry.void_window] = entry.at
        elif entry.new_status is LedgerStatus.PENDING:
            results.pop(entry.key, None)
        else:
            results[entry.key] = entry.at
    return results, windows


def fingerprint(entries: Iterable[LedgerEntry]) -> str:
    """A short text that is another one if the effect of a command on results is: which entries it would add
    to the ledger."""
    effect = [
        (
            entry.type_id,
            entry.specifiers,
            entry.previous_status,
            entry.new_status,
            entry.result,
            entry.void_reason_id,
            entry.void_window,
            entry.window_rolled_back,
        )
        for entry in entries
    ]
    return hashlib.sha256(_encode(effect)).hexdigest()[:16]
