"""The settlement ledger as one tenant sees it: newest entries first, filtered, a page at a time.

An entry's results, voids and rollbacks are fields of its body; of these only rollbacks, which are rare, have
an index of their own (`ledger_entry_reversed`). Entries of markets that were never offered to the tenant,
because their type was off (`domain.types_off`), are left out by the statements, so that pages are full.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Any
from uuid import UUID

import msgspec
from piccolo.columns.combination import WhereRaw
from piccolo.query import Select
from piccolo.querystring import QueryString

from app.domain.match import Status
from app.domain.scopes import Reach
from app.domain.settlement import LedgerEntry
from app.domain.types_off import Intervals, offered_entries
from app.store.prepared import prepared
from app.store.sql import any_of, interval_columns, not_exists, offered
from app.store.tables.match import LedgerEntry as LedgerEntryTable
from app.store.tables.match import Match as MatchTable
from app.store.tables.tenant import Unbooked
from app.store.transaction import Row, Tx

NEWEST = 2**63 - 1  #: above every entry's id
_NO_TENANT = UUID(int=0)  #: where the reach does not depend on the tenant


class LedgerResult(StrEnum):
    """What an entry says of its market, or of the bets of a window."""

    WON = "won"
    LOST = "lost"
    VOID = "void"
    ROLLED_BACK = "rolled_back"


class LedgerFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which entries: of a match, of a market type, with a result, from `since` (Unix ms) until before
    `until`; None: any."""

    match_id: UUID | None = None
    type_id: int | None = None
    result: LedgerResult | None = None
    since: int | None = None
    until: int | None = None


class MatchEntry(msgspec.Struct, frozen=True):
    """A ledger entry, and the names of its match."""

    match_id: UUID
    number: int
    home: str
    away: str
    entry: LedgerEntry


_entry = msgspec.json.Decoder(LedgerEntry).decode
_MATCH = LedgerEntryTable.match_id.join_on(MatchTable.id)
_COLUMNS = (
    LedgerEntryTable.match_id,
    _MATCH.number.as_alias("number"),
    _MATCH.home.as_alias("home"),
    _MATCH.away.as_alias("away"),
    LedgerEntryTable.body,
)
#: The conditions of `LedgerFilter`; each value is a parameter.
CONDITIONS = {
    "match_id": lambda value: LedgerEntryTable.match_id == value,
    "type_id": lambda value: LedgerEntryTable.type_id == value,
    "since": lambda value: LedgerEntryTable.at >= value,
    "until": lambda value: LedgerEntryTable.at < value,
}


def _on_body(text: str) -> QueryString:
    return QueryString(text, *[LedgerEntryTable.body] * text.count("{}"))


#: Word for word the predicate of the index `ledger_entry_reversed`.
_REVERSED = _on_body(
    "(({}->>'new_status' = 'pending' AND {}->'void_window' IS NULL) OR {}->>'window_rolled_back' = 'true')"
)
_SETTLED = "{}->'void_window' IS NULL AND {}->>'new_status' = 'settled' AND {}->>'result'"
_RESULTS = {
    LedgerResult.WON: _on_body(f"{_SETTLED} = 'won'"),
    LedgerResult.LOST: _on_body(f"{_SETTLED} = 'lost'"),
    LedgerResult.VOID: _on_body(
        "(({}->>'new_status' = 'voided' AND {}->'void_window' IS NULL)"
        " OR ({}->'void_window' IS NOT NULL AND {}->>'window_rolled_back' IS NULL))"
    ),
    LedgerResult.ROLLED_BACK: _REVERSED,
}


async def page(
    tx: Tx,
    tenant_id: UUID,
    reach: Reach,
    wanted: LedgerFilter,
    types_off: Intervals = (),
    *,
    before: int = NEWEST,
    limit: int,
) -> list[MatchEntry]:
    """At most `limit` entries with an id below `before`, newest first, of matches within the tenant's
    reach, and of markets that were offered to it."""
    given = {name: value for name in CONDITIONS if (value := getattr(wanted, name)) is not None}
    query = _page(
        *(before, tenant_id, *given.values(), *interval_columns(types_off)),
        conditions=tuple(given),
        result=wanted.result,
        reach=reach,
        limit=limit,
    )
    return [_match_entry(row) for row in await tx.run(query)]


async def page_of_all(tx: Tx, wanted: LedgerFilter, *, before: int = NEWEST, limit: int) -> list[MatchEntry]:
    """`page`, as operators see the ledger: every entry, of every match."""
    return await page(tx, _NO_TENANT, Reach.EVERYTHING, wanted, before=before, limit=limit)


async def get_any(tx: Tx, entry_id: int) -> MatchEntry | None:
    """`get`, as operators see the ledger."""
    return await get(tx, _NO_TENANT, Reach.EVERYTHING, entry_id)


async def get(
    tx: Tx, tenant_id: UUID, reach: Reach, entry_id: int, types_off: Intervals = ()
) -> MatchEntry | None:
    """The entry with that id; None without one within the tenant's reach, or of a market never offered."""
    row = await tx.first(_get(entry_id, tenant_id, *interval_columns(types_off), reach=reach))
    return _match_entry(row) if row else None


async def of_market(
    tx: Tx, match_id: UUID, type_id: int, specifiers: str, types_off: Intervals = ()
) -> Sequence[LedgerEntry]:
    """Every entry of one market that was published to the tenant, in order."""
    rows = await tx.run(_of_market(match_id, type_id, specifiers))
    return offered_entries([_entry(row["body"]) for row in rows], types_off)


async def reversals(tx: Tx, match_ids: Collection[UUID]) -> list[tuple[UUID, LedgerEntry]]:
    """The rollbacks of these matches, in order, each with its match."""
    if not match_ids:
        return []
    return [(row["match_id"], _entry(row["body"])) for row in await tx.run(_reversals(list(match_ids)))]


def _match_entry(row: Row) -> MatchEntry:
    return MatchEntry(row["match_id"], row["number"], row["home"], row["away"], _entry(row["body"]))


def _within(query: Select[Any], tenant_id: UUID, reach: Reach) -> Select[Any]:
    """The query, for matches within a tenant's reach."""
    if reach is Reach.BOOKED:
        same = (Unbooked.tenant_id == tenant_id, Unbooked.match_id == LedgerEntryTable.match_id)
        return query.where(WhereRaw("{}", not_exists(Unbooked.select(Unbooked.match_id).where(*same))))
    if reach is Reach.FINISHED:
        return query.where(_MATCH.status == Status.FINISHED)
    return query


def _published(query: Select[Any], off: Sequence[object]) -> Select[Any]:
    """The query, for entries of markets that were offered to the tenant."""
    entries = LedgerEntryTable
    return query.where(offered(off, entries.type_id, entries.id, entries.body)) if off else query


@prepared
def _page(
    before: int,
    tenant_id: UUID,
    *values: object,
    conditions: tuple[str, ...],
    result: LedgerResult | None,
    reach: Reach,
    limit: int,
) -> Select[Any]:
    query = LedgerEntryTable.select(*_COLUMNS).where(LedgerEntryTable.id < before)
    given, off = values[: len(conditions)], values[len(conditions) :]
    for name, value in zip(conditions, given, strict=True):
        query = query.where(CONDITIONS[name](value))
    if result is not None:
        query = query.where(WhereRaw("{}", _RESULTS[result]))
    query = _published(_within(query, tenant_id, reach), off)
    return query.order_by(LedgerEntryTable.id, ascending=False).limit(limit)


@prepared
def _get(entry_id: int, tenant_id: UUID, *off: object, reach: Reach) -> Select[Any]:
    query = LedgerEntryTable.select(*_COLUMNS).where(LedgerEntryTable.id == entry_id)
    return _published(_within(query, tenant_id, reach), off)


@prepared
def _of_market(match_id: UUID, type_id: int, specifiers: str) -> Select[Any]:
    entries = LedgerEntryTable
    market = (entries.type_id == type_id, entries.specifiers == specifiers)
    return entries.select(entries.body).where(entries.match_id == match_id, *market).order_by(entries.id)


@prepared
def _reversals(match_ids: Collection[UUID]) -> Select[Any]:
    entries = LedgerEntryTable
    query = entries.select(entries.match_id, entries.body)
    return query.where(any_of(entries.match_id, match_ids), _REVERSED).order_by(entries.id)
