"""Entries of the settlement ledger in words: what a page and a file show of each."""

from collections.abc import Iterable, Sequence
from uuid import UUID

import msgspec

from app.channels.portal.market_names import MarketNames, market_path, names_of, void_reason
from app.channels.portal.texts import Texts
from app.domain.ids import match_urn
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.store import settlements
from app.store.settlements import MatchEntry
from app.store.transaction import Tx

_KINDS = {
    LedgerStatus.SETTLED: "settled",
    LedgerStatus.VOIDED: "voided",
    LedgerStatus.PENDING: "rolled_back",
}


class SettlementRow(msgspec.Struct, frozen=True, kw_only=True):
    """An entry in words. `kind`: settled, voided, rolled_back, bets_voided or bets_restored;
    `rolled_back_by`: the id of the entry that withdrew this one."""

    entry: LedgerEntry
    kind: str
    match_urn: str
    match_name: str
    market: str
    market_path: str
    void_reason: str
    rolled_back_by: int | None


async def rows_of(tx: Tx, texts: Texts, found: Sequence[MatchEntry]) -> list[SettlementRow]:
    """These entries in words: two queries, however many there are."""
    reversals = await settlements.reversals(tx, {each.match_id for each in found})
    names = await names_of(tx, texts, (each.entry.key for each in found))
    return [_row(texts, names, each, reversals) for each in found]


def kind_of(entry: LedgerEntry) -> str:
    """What the entry does, by the name of its text."""
    if entry.void_window is not None:
        return "bets_restored" if entry.window_rolled_back else "bets_voided"
    return _KINDS[entry.new_status]


def withdraws(entry: LedgerEntry, ledger: Iterable[LedgerEntry]) -> LedgerEntry | None:
    """The entry that this one, a rollback, withdraws; `ledger` has the entries of its market in order."""
    if not _is_reversal(entry):
        return None
    earlier = [each for each in ledger if each.id < entry.id and not _is_reversal(each)]
    return next((each for each in reversed(earlier) if each.void_window == entry.void_window), None)


def _row(
    texts: Texts, names: MarketNames, found: MatchEntry, reversals: Iterable[tuple[UUID, LedgerEntry]]
) -> SettlementRow:
    entry = found.entry
    return SettlementRow(
        entry=entry,
        kind=kind_of(entry),
        match_urn=match_urn(found.number),
        match_name=f"{found.home} – {found.away}",
        market=names.name(entry.key, found.home, found.away),
        market_path=market_path(found.number, entry.key),
        void_reason=void_reason(texts, entry.void_reason_id),
        rolled_back_by=_rolled_back_by(found, reversals),
    )


def _rolled_back_by(found: MatchEntry, reversals: Iterable[tuple[UUID, LedgerEntry]]) -> int | None:
    """The first rollback of the same market, or of the same window of its bets, after the entry."""
    entry = found.entry
    if _is_reversal(entry):
        return None
    same = (
        each.id
        for match_id, each in reversals
        if match_id == found.match_id and each.key == entry.key and each.void_window == entry.void_window
    )
    return next((number for number in same if number > entry.id), None)


def _is_reversal(entry: LedgerEntry) -> bool:
    return kind_of(entry) in ("rolled_back", "bets_restored")
