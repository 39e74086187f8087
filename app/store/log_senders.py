"""The senders of a match's log: one is followed, the others are recorded with the reason why not."""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

import msgspec
from piccolo.query import Delete, Select

from app.store.prepared import prepared, reading_ids
from app.store.row_mapping import RowMapping
from app.store.sql import holds, not_exists
from app.store.statements import reads
from app.store.tables.operations import Alert
from app.store.tables.source import LogSender as LogSenderTable
from app.store.transaction import Tx, Write

OTHERS = "others"  #: the name under which a match's senders beyond the most are recorded together
State = Literal["followed", "refused", "dismissed", "ended"]

_OPEN_ALERT = (Alert.kind == "rival_source", Alert.ended_at.is_null())


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


ROWS = RowMapping(
    LogSenderTable,
    LogSender,
    ("match_id", "source"),
    beside=("match_id",),
    lasting=("instance", "first_seen"),
)
_decode = msgspec.json.Decoder(tuple[LogSender, ...]).decode


def decoded(rows: bytes) -> tuple[LogSender, ...]:
    """A match's senders, from the JSON of `statements.reads`."""
    return _decode(rows)


async def listing(tx: Tx, match_id: UUID) -> tuple[LogSender, ...]:
    """The senders of a match's log, by the time when each was first seen."""
    return decoded(await tx.value(reads.senders(ROWS.names), match_id))


def save_statements(
    match_id: UUID, changed: Sequence[LogSender], forgotten: LogSender | None = None
) -> list[Write]:
    """The statements that write these senders and delete the record of the one that is forgotten."""
    gone = [Write.of(_delete(match_id, forgotten.source))] if forgotten else []
    return [*gone, *ROWS.save(changed, match_id)]


@reading_ids
def matches_with_rivals() -> Select[Any]:
    """Matches with an open alert about rival sources."""
    return Alert.select(Alert.match_id).where(*_OPEN_ALERT).distinct()


@reading_ids
def rival_sources_gone(before: int, /) -> Select[Any]:
    """Matches with an open alert about rival sources none of which has sent since `before` (ms)."""
    rivals = LogSenderTable.select(LogSenderTable.match_id).where(
        LogSenderTable.match_id == Alert.match_id,
        LogSenderTable.state == "refused",
        holds(LogSenderTable.claims),
        LogSenderTable.last_seen >= before,
    )
    return Alert.select(Alert.match_id).where(*_OPEN_ALERT, not_exists(rivals)).distinct()


@prepared
def _delete(match_id: UUID, source: str) -> Delete:
    return LogSenderTable.delete().where(LogSenderTable.match_id == match_id, LogSenderTable.source == source)
