"""The state of a match's log: its source and offset, ranges received out of order, and failed batches."""

from uuid import UUID

import msgspec

from app.store import log_senders
from app.store.alerts import AlertKind
from app.store.log_senders import LogSender
from app.store.transaction import Row, Tx, Write

_MAX_PENDING, _MAX_PENDING_BYTES = 256, 8 * 1024 * 1024


class LogState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one match's log.

    `instance` is the sender's run and `next_offset` its first byte not yet applied; "" and None while the
    sender sends no offsets. `last_message_id` is the batch applied last, `last_batch_at` its arrival (ms).
    `has_gap`: bytes are missing, and the next round with a complete start is the first to be trusted again.
    `has_pending`: there were pending ranges when this was read; `known`: the senders of this match's log.
    """

    match_id: UUID
    instance: str = ""
    next_offset: int | None = None
    last_batch_at: int = 0
    last_message_id: str = ""
    has_gap: bool = False
    has_pending: bool = False
    known: tuple[LogSender, ...] = ()


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
    row = await tx.row(
        f"""
        SELECT instance, next_offset, last_batch_at, last_message AS last_message_id, broken AS has_gap,
            EXISTS (SELECT FROM log_pending p WHERE p.match_id = $1) AS has_pending,
            {log_senders.ALL} AS known
        FROM (SELECT $1::uuid AS id) AS wanted LEFT JOIN log_source s ON s.match_id = wanted.id
        """,
        match_id,
    )
    return _log_state(match_id, row or {})


def save_statement(state: LogState) -> Write:
    """The statement that writes the log state."""
    return Write(
        """
        INSERT INTO log_source (match_id, instance, next_offset, last_batch_at, last_message, broken)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (match_id) DO UPDATE SET instance = excluded.instance,
            next_offset = excluded.next_offset, last_batch_at = excluded.last_batch_at,
            last_message = excluded.last_message, broken = excluded.broken
        """,
        (
            state.match_id,
            state.instance,
            -1 if state.next_offset is None else state.next_offset,
            state.last_batch_at,
            state.last_message_id,
            state.has_gap,
        ),
    )


async def has_room_for(tx: Tx, match_id: UUID, pending: LogRange) -> bool:
    """Whether another range of this match may be stored: at most 256 of them, and 8 MiB."""
    row = await tx.row(
        "SELECT count(*) AS ranges, coalesce(sum(octet_length(body)), 0) AS bytes FROM log_pending"
        " WHERE match_id = $1",
        match_id,
    )
    assert row is not None
    return bool(row["ranges"] < _MAX_PENDING and row["bytes"] + len(pending.body) <= _MAX_PENDING_BYTES)


async def save_pending(tx: Tx, match_id: UUID, pending: LogRange, now: int) -> None:
    """Store a pending range, from `now` (ms) on, until the one before it arrives; an equal one stays."""
    await tx.execute(
        """
        INSERT INTO log_pending (match_id, instance, begin_offset, end_offset, body, arrived_at, kept_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
        """,
        match_id,
        pending.instance,
        pending.begin,
        pending.end,
        pending.body,
        pending.arrived_at,
        now,
    )


async def pending(tx: Tx, match_id: UUID) -> list[LogRange]:
    """The pending ranges of a match, by instance and offset."""
    rows = await tx.fetch(
        """
        SELECT instance, begin_offset, end_offset, body, arrived_at FROM log_pending
        WHERE match_id = $1 ORDER BY instance, begin_offset
        """,
        match_id,
    )
    return [LogRange(*row.values()) for row in rows]


async def delete_pending(tx: Tx, match_id: UUID, pending: LogRange) -> None:
    """Delete a pending range."""
    await tx.execute(
        "DELETE FROM log_pending WHERE match_id = $1 AND instance = $2 AND begin_offset = $3",
        match_id,
        pending.instance,
        pending.begin,
    )


async def overdue(tx: Tx, before: int) -> list[UUID]:
    """Matches with a range that has been pending since before `before` (ms)."""
    rows = await tx.fetch("SELECT DISTINCT match_id FROM log_pending WHERE kept_at < $1", before)
    return [row["match_id"] for row in rows]


async def park(tx: Tx, parked: ParkedBatch) -> None:
    """Store a failed batch; one that is stored already stays as it is."""
    await tx.execute(
        """
        INSERT INTO log_parked
            (message, match_id, instance, begin_offset, end_offset, body, arrived_at, parked_at, error)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING
        """,
        *msgspec.structs.astuple(parked),
    )


async def parked_count(tx: Tx) -> int:
    count: int = await tx.value("SELECT count(*) FROM log_parked")
    return count


async def parked_and_recovered(tx: Tx) -> list[UUID]:
    """Matches with an open alert about a parked batch in which a round has since started completely."""
    rows = await tx.fetch(
        f"""
        SELECT a.match_id FROM alert a JOIN log_source s ON s.match_id = a.match_id
        WHERE a.kind = '{AlertKind.PARKED_BATCH}' AND a.ended_at IS NULL AND NOT s.broken
        """
    )
    return [row["match_id"] for row in rows]


def _log_state(match_id: UUID, row: Row) -> LogState:
    known = log_senders.decoded(row["known"]) if row else ()
    if not row or row["instance"] is None:
        return LogState(match_id=match_id, known=known)
    fields = dict(row) | {"known": known}
    if fields["next_offset"] < 0:
        fields["next_offset"] = None
    return LogState(match_id=match_id, **fields)
