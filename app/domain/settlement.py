"""The settlement ledger: append-only entries, each with the facts that it rests on."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

import msgspec

from app.domain.market import MarketKey, Result

SettledBy = Literal["engine", "system", "admin"]
LedgerMessage = Literal["bet_settlement", "bet_cancel", "rollback_bet_settlement", "rollback_bet_cancel"]


class LedgerStatus(StrEnum):
    PENDING = "pending"
    SETTLED = "settled"
    VOIDED = "voided"


class VoidWindow(msgspec.Struct, frozen=True, order=True):
    """Bets placed from `start_time` to `end_time` (Unix ms, both included)."""

    start_time: int
    end_time: int


class LedgerEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change of one market's settlement, or the void of a part of its bets.

    pending → settled (won, lost) | voided; back to pending by a rollback; a changed result is always a
    rollback entry followed by a settle entry. With a `void_window` only the bets placed in it are void (or
    void no more, when `window_rolled_back`): both statuses and the result are then the market's present
    ones, so that the last entry of a market always shows its state. `rests_on` are numbers of the
    match's events, rounds and map ends; `first_opened_at` is the market's. `id` is the change log's seq and
    `at` the envelope's timestamp (Unix ms); both are 0 until the store has assigned them.
    """

    type_id: int
    specifiers: str
    previous_status: LedgerStatus
    new_status: LedgerStatus
    result: Result | None
    reason: str
    rests_on: tuple[int, ...] = ()
    settled_by: SettledBy = "engine"
    is_resettlement: bool = False
    void_reason_id: int | None = None
    void_window: VoidWindow | None = None
    window_rolled_back: bool = False
    first_opened_at: int = 0
    id: int = 0
    at: int = 0

    @property
    def key(self) -> MarketKey:
        return self.type_id, self.specifiers

    @property
    def message(self) -> LedgerMessage:
        """The feed message that publishes this entry."""
        if self.void_window is not None:
            return "rollback_bet_cancel" if self.window_rolled_back else "bet_cancel"
        if self.new_status is LedgerStatus.SETTLED:
            return "bet_settlement"
        if self.new_status is LedgerStatus.VOIDED:
            return "bet_cancel"
        if self.previous_status is LedgerStatus.SETTLED:
            return "rollback_bet_settlement"
        return "rollback_bet_cancel"


def standing_windows(ledger: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """The entries by which the bets of a window are void."""
    found: dict[tuple[MarketKey, VoidWindow], LedgerEntry] = {}
    for entry in ledger:
        if entry.void_window is None:
            continue
        if entry.window_rolled_back:
            found.pop((entry.key, entry.void_window), None)
        else:
            found[entry.key, entry.void_window] = entry
    return list(found.values())


def void_windows(ledger: Iterable[LedgerEntry], key: MarketKey) -> set[VoidWindow]:
    """The windows whose bets are void on the market with this key."""
    standing = standing_windows(entry for entry in ledger if entry.key == key)
    return {entry.void_window for entry in standing if entry.void_window is not None}
