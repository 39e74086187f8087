"""Entries of the settlement ledger in words: what each does, what a page and a file show of it, and the facts
that it rests on, in the order in which they happened.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

import msgspec

from app.domain.ids import match_urn
from app.domain.market import MarketKey
from app.domain.match import MapPlay, Match, Round, TimelineEvent
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.domain.types_off import Intervals
from app.sites.pages.market_names import MarketNames, names_of, void_reason
from app.sites.pages.texts import Texts
from app.store import history, settlements
from app.store.settlements import MatchEntry
from app.store.transaction import Tx

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


async def evidence(
    tx: Tx, texts: Texts, found: MatchEntry, match: Match, market_path: MarketPath, off: Intervals = ()
) -> dict[str, Any]:
    """The values of an entry's page: the kills and rounds that it rests on, and every other entry of its
    market. With `off`, which market types are off, as the tenant sees it."""
    (row,) = await rows_of(tx, texts, [found], market_path)
    same_market = await settlements.of_market(tx, match.id, *found.entry.key, off)
    rounds, events = await history.rounds(tx, match.id), await history.timeline(tx, match.id)
    return {
        "row": row,
        "match": match,
        "facts": facts_of(found.entry.rests_on, rounds, events, match.maps),
        "withdrawn": withdraws(found.entry, same_market),
        "same_market": [(each, kind_of(each)) for each in same_market],
    }


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


class RoundFacts(msgspec.Struct, frozen=True):
    """A round, and those of its events that count here. `played` is its result, None where only its events
    are known."""

    map: int
    round: int
    played: Round | None
    events: tuple[TimelineEvent, ...]


class Facts(msgspec.Struct, frozen=True):
    """`unknown` are the ids of facts that are not stored (any more)."""

    rounds: tuple[RoundFacts, ...]
    map_ends: tuple[MapPlay, ...]
    unknown: tuple[int, ...]


def facts_of(
    rests_on: Collection[int],
    rounds: Iterable[Round],
    events: Iterable[TimelineEvent],
    maps: Iterable[MapPlay],
) -> Facts:
    """The facts with these history ids, of everything that happened in the match."""
    ids = set(rests_on)
    ended = tuple(each for each in maps if each.end_id in ids)
    played = {each.id: each for each in rounds if each.id in ids}
    happened = [each for each in events if each.id in ids]
    known = played.keys() | {each.id for each in happened} | {each.end_id for each in ended}
    results = {(each.map, each.number): each for each in played.values()}
    places = sorted(results.keys() | {(each.map, each.round) for each in happened})
    return Facts(
        tuple(_round(place, results.get(place), happened) for place in places),
        ended,
        tuple(sorted(ids - known)),
    )


def _round(place: tuple[int, int], played: Round | None, happened: Iterable[TimelineEvent]) -> RoundFacts:
    events = sorted((each for each in happened if (each.map, each.round) == place), key=_when)
    return RoundFacts(*place, played, tuple(events))


def _when(event: TimelineEvent) -> tuple[int, int]:
    return event.at, event.id
