"""Matches: one row each, the whole state as one value, locked before anything of the match is written; the
rows of other tables that belong to a match are deleted with it.

Every write here that a response shows also notifies caches of response bodies (`notifications`).
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from operator import attrgetter
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
from piccolo.columns import Column
from piccolo.columns.combination import WhereRaw
from piccolo.query import Delete, Select, Update
from piccolo.querystring import QueryString
from piccolo.table import Table

from app.domain.ids import match_number, match_uuid
from app.domain.market import Book, MarketStatus
from app.domain.match import Match, Status
from app.domain.references import NO_REFERENCES, MarketAnchor, ReferenceStatus
from app.kit.errors import Conflict, Field, Invalid, NotFound
from app.store import combinations, notifications
from app.store.notifications import SHOWN
from app.store.prepared import (
    prepared,
    reading_ids,
    reading_optional_number,
    reading_row,
    reading_rows,
    writing,
)
from app.store.sql import any_of, exists, literals
from app.store.statements import server, writes
from app.store.tables.change import Change, KeptChange, PastFixture, PastSeq
from app.store.tables.claim import Claim
from app.store.tables.combination import PricedState
from app.store.tables.match import (
    LedgerEntry,
    Market,
    MatchInput,
    MatchReference,
    PlayerMap,
    PrematchPrice,
    ReferencePrice,
    Round,
    TeamMap,
    TimelineEvent,
)
from app.store.tables.match import Match as MatchTable
from app.store.tables.operations import Alert, ConsentRequest, MatchCommand, OperatorCommand
from app.store.tables.reference import ImportedFixture
from app.store.tables.replay import ReplayEvent
from app.store.tables.source import LogOffset, LogParked, LogPending, LogSender
from app.store.tables.tenant import BookingGap, Unbooked
from app.store.transaction import Row, Statement, Tx, Write

_NAMING_MATCH = (
    Change,
    PastFixture,
    PastSeq,
    KeptChange,
    LedgerEntry,
    TimelineEvent,
    Round,
    Market,
    Unbooked,
    BookingGap,
    LogOffset,
    LogPending,
    LogParked,
    MatchReference,
    MatchInput,
    ReferencePrice,
    PrematchPrice,
    OperatorCommand,
    MatchCommand,
    ConsentRequest,
    TeamMap,
    PlayerMap,
    Alert,
    LogSender,
    PricedState,
    ImportedFixture,
    ReplayEvent,
    Claim,
)

#: By name.
DEPENDENT_TABLES: dict[str, type[Table]] = {table._meta.tablename: table for table in _NAMING_MATCH}


_values = attrgetter(*writes.MATCH_COLUMNS)
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Match).decode
_STATE = (MatchTable.state, MatchTable.reference_state, MatchTable.last_stamp, MatchTable.last_seq)
_OVER = MatchTable.status.is_in(literals((Status.FINISHED, Status.CANCELLED)))
_WAITING = MatchTable.status.is_in(literals((Status.DISCOVERED, Status.UPCOMING)))
_LIVE = MatchTable.status == Status.LIVE
_RUNNING = (_LIVE, MatchTable.suspended == "")


class _ReferenceState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The fields of a match's state that version 0.2.0 would drop."""

    anchor: MarketAnchor | None = None
    follows_references: bool | None = None
    references: ReferenceStatus = NO_REFERENCES
    head_to_heads: bool = False  #: as in a match that was created while a process of 0.2.0 was alive


_decode_references = msgspec.json.Decoder(_ReferenceState).decode


class MatchPosition(msgspec.Struct, frozen=True):
    """A match, and the seq of its last envelope in the change log (`x-seq`)."""

    id: UUID
    number: int
    seq: int


def _match(row: Row) -> Match:
    stored = row["reference_state"]
    later = _ReferenceState() if stored is None else _decode_references(stored)
    numbers = {"last_stamp": row["last_stamp"], "last_seq": row["last_seq"]}
    return msgspec.structs.replace(_decode(row["state"]), **numbers, **msgspec.structs.asdict(later))


async def next_number(tx: Tx) -> int:
    """A number that no match has; numbers of failed transactions are not reused."""
    number: int = await tx.value(server.NEXT_MATCH_NUMBER)
    return number


async def insert(tx: Tx, match: Match) -> None:
    """Add a new match; raises `Conflict` when its id or number is in use."""
    try:
        numbers = (match.last_stamp, match.last_seq)
        notified = (SHOWN, notifications.match_payload(match))
        await tx.execute(writes.INSERT_MATCH, *_columns(match), *numbers, *notified)
    except asyncpg.UniqueViolationError as error:
        raise Conflict(f"A match with id {match.id} or number {match.number} exists already.") from error


async def lock(tx: Tx, match_id: UUID) -> Match:
    """The match, its row locked until the transaction ends; raises `NotFound`."""
    match = await _locked(tx, match_id, partial(_lock, match_id))
    if match is None:
        raise NotFound(f"There is no match {match_id}.", code="no_match", match=match_id)
    return match


def save_statement(match: Match, reprice_at: int | None = None) -> Write:
    """The statement that writes the match's state, and when its prices may next change because time passes;
    its row must be locked. `last_stamp` is written by `changes.append` and, for a recovery, by
    `recovery_queries.assign_timestamps`; `last_seq` by the first only. Raises `NotFound`."""
    args = (*_columns(match), reprice_at, SHOWN, notifications.match_payload(match))
    return Write(writes.SAVE_MATCH, args, missing=f"There is no match {match.id}.")


def note_written(tx: Tx, match: Match, book: Book) -> None:
    """Note the last state of a locked match, and of all its markets, that the transaction has written."""
    if tx.cache:
        tx.cache.write(match, book)


@reading_ids
def due(now: int, /) -> Select[Any]:
    """Live matches whose prices, or whose map's end, are due at `now` (ms) by time alone; earliest first."""
    query = MatchTable.select(MatchTable.id).where(_LIVE, MatchTable.reprice_at <= now)
    return query.order_by(MatchTable.reprice_at)


async def lock_due(tx: Tx, match_id: UUID, now: int) -> Match | None:
    """`lock`, if the match is still due at `now`; None if another transaction has it or has repriced it."""
    return await _locked(tx, match_id, partial(_lock_due, match_id, now))


async def _locked(tx: Tx, match_id: UUID, lock: Callable[[str | None], Statement]) -> Match | None:
    """The match that a statement locks; as it is cached if that is its row's version."""
    cached = tx.cache.find(match_id) if tx.cache else None
    if (row := await tx.first(lock(cached.version if cached else None))) is None:
        return None
    present = cached if row["state"] is None else None
    if tx.cache:
        tx.cache.lock(match_id, row["own_version"], present)
    return present.match if present else _match(row)


@writing
def set_reprice_at(match_id: UUID, reprice_at: int | None, /) -> Update[Any]:
    """Record when the prices of a match may next change; nothing else of it has changed."""
    return MatchTable.update({MatchTable.reprice_at: reprice_at}).where(MatchTable.id == match_id)


@reading_row(_match)
def get(match_id: UUID, /) -> Select[Any]:
    return MatchTable.select(*_STATE).where(MatchTable.id == match_id)


@reading_row(_match)
def _by_number(number: int, /) -> Select[Any]:
    return MatchTable.select(*_STATE).where(MatchTable.number == number)


@reading_rows(_match)
def by_ids(ids: Collection[UUID], /) -> Select[Any]:
    """Those of these matches that exist."""
    return MatchTable.select(*_STATE).where(any_of(MatchTable.id, ids))


async def find(tx: Tx, ref: str, *, finished_only: bool = False) -> Match | None:
    """The match that `ref` names: a UUID, or `od:match:<n>`; None when there is none or `ref` is neither.

    With `finished_only` other matches are not found either.
    """
    match = await _named(tx, ref)
    if match and finished_only and match.status is not Status.FINISHED:
        return None
    return match


def wrong_ref(ref: str, parameter: tuple[str, str]) -> Field | None:
    """What is wrong with the parameter, if its value `ref` has neither form."""
    if match_number(ref) is not None or match_uuid(ref) is not None:
        return None
    return Field(parameter, "A match is named by its UUID, or as od:match:<number>.", "match_id", ref)


async def by_ref(
    tx: Tx,
    ref: str,
    *,
    finished_only: bool = False,
    parameter: tuple[str, str] = ("path", "match_id"),
) -> Match:
    """The result of `find`; raises `Invalid`, which names the parameter, when `ref` has neither form,
    `NotFound` when there is no match."""
    if wrong := wrong_ref(ref, parameter):
        raise Invalid(wrong)
    match = await find(tx, ref, finished_only=finished_only)
    if match is None:
        raise NotFound(f"There is no match {ref!r}.", code="no_match", match=ref)
    return match


@reading_optional_number
def reprice_at(match_id: UUID, /) -> Select[Any]:
    """When the prices of the match may next change because time passes (Unix ms)."""
    return MatchTable.select(MatchTable.reprice_at).where(MatchTable.id == match_id)


@reading_rows(_match)
def listing(statuses: Collection[Status], /, *, limit: int, newest_first: bool = False) -> Select[Any]:
    """At most `limit` matches in these states, by scheduled time."""
    order = (MatchTable.scheduled_at, MatchTable.number)
    query = MatchTable.select(*_STATE).where(any_of(MatchTable.status, statuses)).limit(limit)
    if newest_first:
        return query.order_by(QueryString("{} DESC NULLS LAST, {}", *order), ascending=False)
    return query.order_by(*order)


@reading_rows(_match)
def quiet(before: int, /) -> Select[Any]:
    """Live, not suspended matches with an active market, of whose log nothing came since `before` (ms)."""
    active = Market.select(Market.match_id).where(
        Market.match_id == MatchTable.id, Market.status == QueryString(f"{MarketStatus.ACTIVE:d}")
    )
    query = MatchTable.select(*_STATE).where(*_RUNNING, MatchTable.last_arrived_at < before, exists(active))
    return query.order_by(MatchTable.number)


@reading_ids
def suspended_before_play(reason: str, /) -> Select[Any]:
    """Matches that have not begun and are suspended for `reason`: no log line will clear it."""
    return MatchTable.select(MatchTable.id).where(_WAITING, MatchTable.suspended == reason)


@reading_ids
def without_head_to_heads() -> Select[Any]:
    """Matches that have not begun and were created while a process of version 0.2.0 was alive."""
    stored = WhereRaw("(reference_state->>'head_to_heads')::boolean IS NOT TRUE")
    return MatchTable.select(MatchTable.id).where(_WAITING, stored)


async def trim(tx: Tx, before: int, limit: int = 20) -> list[UUID]:
    """Delete up to `limit` matches that ended before `before` (ms), oldest first, with all their rows:
    markets, history, ledger, change log and what was kept of it, combinations; their ids. The match of the
    change log's last row stays, so that the log's `head` never falls."""
    ids = await _finished(tx, before, limit=limit)
    await _remove(tx, ids)
    return ids


async def trim_to(tx: Tx, keep: int) -> list[UUID]:
    """`trim`, for all except the `keep` matches that ended last; their ids."""
    newest = await _finished_at(tx, behind=keep)
    return [] if newest is None else await trim(tx, newest + 1)


async def _remove(tx: Tx, ids: Sequence[UUID]) -> None:
    if not ids:
        return
    for table in DEPENDENT_TABLES:
        await tx.change(_delete_dependent(ids, table=table))
    await combinations.delete_of(tx, ids)
    await tx.change(_delete(ids))
    await notifications.notify_removed(tx, ids)


async def _named(tx: Tx, ref: str) -> Match | None:
    number = match_number(ref)
    if number is not None:
        return await _by_number(tx, number)
    match_id = match_uuid(ref)
    return await get(tx, match_id) if match_id else None


def _columns(match: Match) -> tuple[object, ...]:
    references = _ReferenceState(
        match.anchor, match.follows_references, match.references, match.head_to_heads
    )
    map_name = match.map.name if match.map else ""
    return (*_values(match), map_name, _encode(match), _encode(references))


@prepared
def _lock(match_id: UUID, version: str | None) -> Select[Any]:
    query = MatchTable.select(*_state_unless(version)).where(MatchTable.id == match_id)
    return query.lock_rows("UPDATE")


@prepared
def _lock_due(match_id: UUID, now: int, version: str | None) -> Select[Any]:
    due = (MatchTable.id == match_id, MatchTable.reprice_at <= now)
    return MatchTable.select(*_state_unless(version)).where(*due).lock_rows("UPDATE", skip_locked=True)


def _state_unless(version: str | None) -> tuple[Column | QueryString, ...]:
    """`_STATE`, its JSON only if the row has not this version; and the version that the row gets if the
    transaction writes it."""
    changed = "CASE WHEN xmin::text = {} THEN NULL ELSE {} END"
    return (
        QueryString(changed, version, MatchTable.state, alias="state"),
        MatchTable.reference_state,
        MatchTable.last_stamp,
        MatchTable.last_seq,
        QueryString("pg_current_xact_id()::xid::text", alias="own_version"),
    )


@reading_ids
def _finished(before: int, /, *, limit: int) -> Select[Any]:
    last = Change.select(Change.match_id).order_by(Change.seq, ascending=False).limit(1)
    other = QueryString("{} IS DISTINCT FROM ({})", MatchTable.id, last.querystrings[0])
    query = MatchTable.select(MatchTable.id).where(MatchTable.finished_at < before, _OVER, other)
    return query.order_by(MatchTable.finished_at).limit(limit).lock_rows("UPDATE", skip_locked=True)


@reading_optional_number
def _finished_at(*, behind: int) -> Select[Any]:
    """When the match finished that has `behind` newer ones."""
    query = MatchTable.select(MatchTable.finished_at).where(MatchTable.finished_at.is_not_null(), _OVER)
    return query.order_by(MatchTable.finished_at, ascending=False).offset(behind).limit(1)


@prepared
def _delete_dependent(ids: Collection[UUID], *, table: str) -> Delete:
    of_match = DEPENDENT_TABLES[table]
    return of_match.delete().where(any_of(of_match._meta.get_column_by_name("match_id"), ids))


@prepared
def _delete(ids: Collection[UUID]) -> Delete:
    return MatchTable.delete().where(any_of(MatchTable.id, ids))
