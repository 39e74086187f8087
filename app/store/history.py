"""The history of a match: finished rounds, timeline events, and the settlement ledger.

Nothing is deleted: what no longer counts is marked void with its history id unchanged.
"""

from collections.abc import Collection, Iterable
from typing import Any, TypeVar
from uuid import UUID

import msgspec
from piccolo.query import Select, Update
from piccolo.querystring import QueryString

from app.domain.match import Round, Status, TimelineEvent
from app.domain.settlement import LedgerEntry
from app.domain.types_off import Intervals
from app.store.prepared import prepared, reading_rows
from app.store.row_mapping import RowMapping
from app.store.sql import any_of, fails, holds, interval_columns, offered
from app.store.statements import reads
from app.store.tables.match import LedgerEntry as LedgerEntryTable
from app.store.tables.match import Match as MatchTable
from app.store.tables.match import Round as RoundTable
from app.store.tables.match import TimelineEvent as EventTable
from app.store.transaction import Row, Tx, Write

P = TypeVar("P", Round, TimelineEvent)
Past = RoundTable | EventTable

_BODY = {"body": msgspec.json.Encoder().encode}
_ROUNDS = RowMapping(RoundTable, Round, ("match_id", "id"), beside=("match_id",), derived=_BODY)
_EVENTS = RowMapping(EventTable, TimelineEvent, ("match_id", "id"), beside=("match_id",), derived=_BODY)
_round = msgspec.json.Decoder(Round).decode
_event = msgspec.json.Decoder(TimelineEvent).decode
_rounds = msgspec.json.Decoder(list[Round]).decode
_events = msgspec.json.Decoder(list[TimelineEvent]).decode
_entry = msgspec.json.Decoder(LedgerEntry).decode

_MATCH = LedgerEntryTable.match_id.join_on(MatchTable.id)
#: Entries of finished matches before the first one of a match that may yet finish.
_SAFE = QueryString(
    """
    {} < (
        SELECT coalesce(min(own.first), 9223372036854775807) FROM match, LATERAL (
            SELECT min(entry.id) AS first FROM ledger_entry AS entry WHERE entry.match_id = match.id
        ) AS own
        WHERE status IN ('discovered', 'upcoming', 'live')
    )
    """,
    LedgerEntryTable.id,
)


def add_statements(match_id: UUID, rounds: Iterable[Round], events: Iterable[TimelineEvent]) -> list[Write]:
    """The statements that write finished rounds and timeline events, replacing those already written."""
    return [*_ROUNDS.save(rounds, match_id), *_EVENTS.save(events, match_id)]


async def mark(tx: Tx, match_id: UUID, ids: Collection[int], *, void: bool) -> None:
    """Mark the rounds and events with these history ids as void, or as counting."""
    if ids:
        for table in (RoundTable, EventTable):
            await tx.change(_mark(match_id, ids, table=table, void=void))


def _read_round(row: Row) -> Round:
    found, void = _round(row["body"]), row["void"]
    return found if found.void == void else msgspec.structs.replace(found, void=void)


def _read_event(row: Row) -> TimelineEvent:
    found, void = _event(row["body"]), row["void"]
    return found if found.void == void else msgspec.structs.replace(found, void=void)


@reading_rows(_read_round)
def rounds(match_id: UUID, /) -> Select[Any]:
    """Every finished round in playing order, void ones too."""
    query = RoundTable.select(RoundTable.void, RoundTable.body)
    return query.where(RoundTable.match_id == match_id).order_by(RoundTable.id)


@reading_rows(_read_event)
def timeline(match_id: UUID, /) -> Select[Any]:
    """Every timeline event in order of occurrence, void ones too."""
    query = EventTable.select(EventTable.void, EventTable.body)
    return query.where(EventTable.match_id == match_id).order_by(EventTable.id)


async def standing(tx: Tx, match_id: UUID) -> tuple[list[Round], list[TimelineEvent]]:
    """The finished rounds and the timeline events that count, in order: `rounds` and `timeline` without void
    ones, for half of what reading a row of each costs (decision 0074)."""
    found = await tx.row(reads.STANDING, match_id) or {}
    rounds, events = _rounds(found["rounds"] or b"[]"), _events(found["events"] or b"[]")
    return _not_void(rounds), _not_void(events)


def _not_void(found: list[P]) -> list[P]:
    """Those of which the body was written while they were void, as their row says now."""
    return [msgspec.structs.replace(one, void=False) if one.void else one for one in found]


async def of_matches(tx: Tx, ids: Collection[UUID]) -> dict[UUID, tuple[list[Round], list[TimelineEvent]]]:
    """`rounds` and `timeline` of each of these matches."""
    found: dict[UUID, tuple[list[Round], list[TimelineEvent]]] = {one: ([], []) for one in ids}
    if not found:
        return found
    for row in await tx.run(_of_matches(list(ids), table=RoundTable)):
        found[row["match_id"]][0].append(_read_round(row))
    for row in await tx.run(_of_matches(list(ids), table=EventTable)):
        found[row["match_id"]][1].append(_read_event(row))
    return found


@reading_rows(lambda row: _entry(row["body"]))
def ledger(match_id: UUID, /) -> Select[Any]:
    """The match's settlement ledger, in order."""
    entries = LedgerEntryTable
    return entries.select(entries.body).where(entries.match_id == match_id).order_by(entries.id)


async def ledger_since(
    tx: Tx, since_id: int, limit: int, types_off: Intervals = (), *, finished_only: bool = False
) -> list[tuple[UUID, int, LedgerEntry]]:
    """At most `limit` entries of all matches with a higher id than `since_id`, each with its match's id and
    number.

    Ids become visible in order, so the last one is a safe cursor for the next call. `finished_only` returns
    entries of finished matches only, and stops before the first entry of a match that may yet finish: the
    cursor would skip it. Entries of markets that were never offered, because their type was off in these
    intervals, are left out (as `domain.types_off.entry_offered`).
    """
    off = interval_columns(types_off)
    rows = await tx.run(_ledger_since(since_id, *off, limit=limit, finished_only=finished_only))
    return [(row["match_id"], row["number"], _entry(row["body"])) for row in rows]


@prepared
def _mark(match_id: UUID, ids: Collection[int], *, table: type[Past], void: bool) -> Update[Any]:
    others = (any_of(table.id, ids), fails(table.void) if void else holds(table.void))
    return table.update({table.void: void}).where(table.match_id == match_id, *others)


@prepared
def _of_matches(ids: Collection[UUID], *, table: type[Past]) -> Select[Any]:
    columns = (table.match_id, table.void, table.body)
    return table.select(*columns).where(any_of(table.match_id, ids)).order_by(table.match_id, table.id)


@prepared
def _ledger_since(since_id: int, *off: object, limit: int, finished_only: bool) -> Select[Any]:
    entries = LedgerEntryTable
    query = entries.select(entries.match_id, _MATCH.number.as_alias("number"), entries.body)
    query = query.where(entries.id > since_id)
    if finished_only:
        query = query.where(_MATCH.status == Status.FINISHED, _SAFE)
    if off:
        query = query.where(offered(off, entries.type_id, entries.id, entries.body))
    return query.order_by(entries.id).limit(limit)
