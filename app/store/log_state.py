"""The state of a match's log: its offset, its senders, of which one is followed, ranges received out of
order, and failed batches."""

from collections.abc import Sequence
from typing import Any, Literal, Self
from uuid import UUID

import msgspec
from piccolo.query import Delete, Insert, Select
from piccolo.query.base import Query
from piccolo.query.functions import Count
from piccolo.querystring import QueryString

from app.store.alerts import AlertKind
from app.store.prepared import prepared, reading_ids, reading_number, reading_rows
from app.store.row_mapping import RowMapping, Stored
from app.store.sql import fails, holds, not_exists
from app.store.statements import reads
from app.store.tables.operations import Alert
from app.store.tables.source import LogOffset, LogParked, LogPending
from app.store.tables.source import LogSender as LogSenderTable
from app.store.transaction import Row, Tx, Write

OTHERS = "others"  #: the name of the record that a match's senders above the limit share
State = Literal["followed", "refused", "dismissed", "ended"]
_MAX_PENDING, _MAX_PENDING_BYTES = 256, 8 * 1024 * 1024


class LogSender(msgspec.Struct, frozen=True, kw_only=True):
    """A sender of a match's log. Times in Unix ms, `end_offset` in bytes of its run (None: not known).

    `source` names it within the match: the run's instance token, or the server where it has none.
    `server` is what stays the same when the server restarts: its address, else its unique token, else the
    peer's address. `refused`: it sends although another is followed, and `claims` the match when it sends
    play. `dismissed`: an operator decided against it. `ended`: another run or server replaced it.
    `unread_lines` counts the lines about play that could not be parsed while it was followed, and
    `unread_line` is the newest of them.
    """

    source: str
    server: str = ""
    instance: str = ""
    peer: str = ""
    map: str = ""
    state: State
    why: str = ""
    claims: bool = False
    first_seen: int
    last_seen: int
    end_offset: int | None = None
    last_line: str = ""
    unread_lines: int = 0
    unread_line: str = ""


class LogState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one match's log.

    `instance` is the sender's run and `next_offset` its first byte not yet applied; "" and None while the
    sender sends no offsets. `last_message_id` is the batch applied last, `last_batch_at` its arrival (ms).
    `log_began` is when the first line that was applied of that log was written, by the sender's clock (ms; 0:
    not known), `first_line` its digest if the log begins with it; `another_log`: the run has sent one before.
    `has_gap`: bytes are missing, and the next round with a complete start is the first to be trusted again.
    `has_pending`: there were pending ranges when this was read; `known`: the senders of this match's log.
    """

    match_id: UUID
    instance: str = ""
    next_offset: int | None = None
    log_began: int = 0
    first_line: str = ""
    another_log: bool = False
    last_batch_at: int = 0
    last_message_id: str = ""
    has_gap: bool = False
    has_pending: bool = False
    known: tuple[LogSender, ...] = ()

    def of_another_run(self, instance: str, next_offset: int | None) -> Self:
        """The state before the first byte of that run's log which is read."""
        none = {"log_began": 0, "first_line": "", "another_log": False}
        return msgspec.structs.replace(self, instance=instance, next_offset=next_offset, **none)


_ROWS = RowMapping(
    LogOffset,
    LogState,
    ("match_id",),
    stored={
        "next_offset": Stored(
            lambda offset: -1 if offset is None else offset, lambda stored: None if stored < 0 else stored
        )
    },
)


_SENDERS = RowMapping(
    LogSenderTable,
    LogSender,
    ("match_id", "source"),
    beside=("match_id",),
    lasting=("instance", "first_seen"),
)
_decode_senders = msgspec.json.Decoder(tuple[LogSender, ...]).decode
_RIVAL_ALERT = (Alert.kind == AlertKind.RIVAL_SOURCE, Alert.ended_at.is_null())


class LogRange(msgspec.Struct, frozen=True):
    """Bytes `begin` to `end` of the log of one run (`instance`), which came at `arrived_at` (ms). Those
    that come before the bytes that they follow are stored as pending."""

    instance: str
    begin: int
    end: int
    body: bytes
    arrived_at: int


class ParkedBatch(msgspec.Struct, frozen=True):
    """A batch that could not be applied, stored for an operator. Times in ms."""

    message: str
    match_id: UUID
    instance: str
    begin: int | None
    end: int | None
    body: bytes
    arrived_at: int
    parked_at: int
    error: str


async def get(tx: Tx, match_id: UUID) -> LogState:
    """The log state of a match; an empty one before its first batch. Lock the match first."""
    row = await tx.row(reads.log_state(_ROWS.names, _SENDERS.names), match_id)
    return _log_state(match_id, row or {})


def save_statement(state: LogState) -> Write:
    """The statement that writes the log state."""
    (write,) = _ROWS.save([state])
    return write


async def senders(tx: Tx, match_id: UUID) -> tuple[LogSender, ...]:
    """The senders of a match's log, by the time when each was first seen."""
    return _decode_senders(await tx.value(reads.senders(_SENDERS.names), match_id))


def save_senders(
    match_id: UUID, changed: Sequence[LogSender], forgotten: LogSender | None = None
) -> list[Write]:
    """The statements that write these senders and delete the record of the one that is forgotten."""
    gone = [Write.of(_delete_sender(match_id, forgotten.source))] if forgotten else []
    return [*gone, *_SENDERS.save(changed, match_id)]


@reading_ids
def matches_with_rivals() -> Select[Any]:
    """Matches with an open alert about rival sources."""
    return Alert.select(Alert.match_id).where(*_RIVAL_ALERT).distinct()


@reading_ids
def rival_sources_gone(before: int, /) -> Select[Any]:
    """Matches with an open alert about rival sources none of which has sent since `before` (ms)."""
    rivals = LogSenderTable.select(LogSenderTable.match_id).where(
        LogSenderTable.match_id == Alert.match_id,
        LogSenderTable.state == "refused",
        holds(LogSenderTable.claims),
        LogSenderTable.last_seen >= before,
    )
    return Alert.select(Alert.match_id).where(*_RIVAL_ALERT, not_exists(rivals)).distinct()


async def has_room_for(tx: Tx, match_id: UUID, pending: LogRange) -> bool:
    """Whether another range of this match may be stored: at most 256 of them, and 8 MiB."""
    (row,) = await tx.run(_pending_size(match_id))
    return bool(row["ranges"] < _MAX_PENDING and row["bytes"] + len(pending.body) <= _MAX_PENDING_BYTES)


async def save_pending(tx: Tx, match_id: UUID, pending: LogRange, now: int) -> None:
    """Store a pending range, from `now` (ms) on, until the one before it arrives. Of several with the same
    begin the longest is stored, which waits for as long as the first of them."""
    place = (pending.instance, pending.begin, pending.end)
    await tx.change(_save_pending(match_id, *place, pending.body, pending.arrived_at, now))


@reading_rows(lambda row: LogRange(*row.values()))
def pending(match_id: UUID, /) -> Select[Any]:
    """The pending ranges of a match, by instance and offset."""
    columns = (LogPending.instance, LogPending.begin_offset, LogPending.end_offset)
    query = LogPending.select(*columns, LogPending.body, LogPending.arrived_at)
    return query.where(LogPending.match_id == match_id).order_by(LogPending.instance, LogPending.begin_offset)


async def delete_pending(tx: Tx, match_id: UUID, pending: LogRange) -> None:
    """Delete a pending range."""
    await tx.change(_delete_pending(match_id, pending.instance, pending.begin))


@reading_ids
def overdue(before: int, /) -> Select[Any]:
    """Matches with a range that has been pending since before `before` (ms)."""
    return LogPending.select(LogPending.match_id).where(LogPending.kept_at < before).distinct()


async def park(tx: Tx, parked: ParkedBatch) -> None:
    """Store a failed batch; one that is stored already stays as it is."""
    await tx.change(_park(*msgspec.structs.astuple(parked)))


@reading_number
def parked_count() -> Query[Any, Any]:
    return LogParked.count()


@reading_ids
def parked_and_recovered() -> Select[Any]:
    """Matches with an open alert about a parked batch in which a round has since started completely."""
    log = Alert.match_id.join_on(LogOffset.match_id)
    begun = (Alert.kind == AlertKind.PARKED_BATCH, Alert.ended_at.is_null())
    return Alert.select(Alert.match_id).where(*begun, fails(log.has_gap))


def _log_state(match_id: UUID, row: Row) -> LogState:
    known = _decode_senders(row["known"]) if row else ()
    if not row or row["instance"] is None:
        return LogState(match_id=match_id, known=known)
    stored = _ROWS.read(row)
    return msgspec.structs.replace(stored, has_pending=row["has_pending"], known=known)


@prepared
def _pending_size(match_id: UUID) -> Select[Any]:
    size = QueryString("coalesce(sum(octet_length({})), 0)", LogPending.body, alias="bytes")
    return LogPending.select(Count(alias="ranges"), size).where(LogPending.match_id == match_id)


@prepared
def _save_pending(
    match_id: UUID, instance: str, begin: int, end: int, body: bytes, arrived_at: int, kept_at: int
) -> Insert[Any]:
    row = LogPending(
        match_id=match_id,
        instance=instance,
        begin_offset=begin,
        end_offset=end,
        body=body,
        arrived_at=arrived_at,
        kept_at=kept_at,
    )
    return LogPending.insert(row).on_conflict(
        (LogPending.match_id, LogPending.instance, LogPending.begin_offset),
        action="DO UPDATE",
        values=[LogPending.end_offset, LogPending.body, LogPending.arrived_at],
        where=LogPending.end_offset < end,
    )


@prepared
def _delete_pending(match_id: UUID, instance: str, begin: int) -> Delete:
    place = (LogPending.instance == instance, LogPending.begin_offset == begin)
    return LogPending.delete().where(LogPending.match_id == match_id, *place)


@prepared
def _park(*values: object) -> Insert[Any]:
    names = "message match_id instance begin_offset end_offset body arrived_at parked_at error"
    row: dict[str, Any] = dict(zip(names.split(), values, strict=True))
    return LogParked.insert(LogParked(**row)).on_conflict(action="DO NOTHING")


@prepared
def _delete_sender(match_id: UUID, source: str) -> Delete:
    return LogSenderTable.delete().where(LogSenderTable.match_id == match_id, LogSenderTable.source == source)
