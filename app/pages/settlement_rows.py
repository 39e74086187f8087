"""Entries of the settlement ledger in words: what a page and a file show of each."""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

import msgspec

from app.domain.ids import match_urn
from app.domain.market import MarketKey
from app.domain.settlement import LedgerEntry
from app.pages.ledger_kinds import is_reversal, kind_of
from app.pages.market_names import MarketNames, names_of, void_reason
from app.pages.texts import Texts
from app.store import settlements
from app.store.settlements import MatchEntry
from app.store.transaction import Tx


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


MarketPath = Callable[[int, MarketKey], str]  #: of a match's number and a market: where its page is


async def rows_of(
    tx: Tx, texts: Texts, found: Sequence[MatchEntry], market_path: MarketPath
) -> list[SettlementRow]:
    """These entries in words: two queries, however many there are."""
    reversals = await settlements.reversals(tx, {each.match_id for each in found})
    names = await names_of(tx, texts, (each.entry.key for each in found))
    return [_row(texts, names, each, reversals, market_path) for each in found]


def _row(
    texts: Texts,
    names: MarketNames,
    found: MatchEntry,
    reversals: Iterable[tuple[UUID, LedgerEntry]],
    market_path: MarketPath,
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
    if is_reversal(entry):
        return None
    same = (
        each.id
        for match_id, each in reversals
        if match_id == found.match_id and each.key == entry.key and each.void_window == entry.void_window
    )
    return next((number for number in same if number > entry.id), None)
