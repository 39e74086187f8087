"""On which timeline of the PostgreSQL server the service works, and what its last change has lost.

A server begins a new timeline when it is promoted, or restored to a moment of its past. It may then lack
commits that were already published: each of their numbers would mean two things if it was assigned again.
`timeline_guard` lets nobody use such a server before `operations.restoration.failover` has gone on with
higher numbers and stored the new timeline. The seq from which the change log is read since then, the *mark*,
tells one history of the database from the other.
"""

from typing import Any

import asyncpg
import msgspec
from piccolo.columns import Column
from piccolo.query import Insert, Select, Update
from piccolo.querystring import QueryString

from app.kit.errors import Unavailable
from app.store.prepared import prepared, writing
from app.store.statements import server
from app.store.tables.operations import DatabaseTimeline
from app.store.transaction import Tx

_ROW = 1
_COLUMNS = (
    DatabaseTimeline.mark,
    DatabaseTimeline.at,
    DatabaseTimeline.head,
    DatabaseTimeline.head_at,
    DatabaseTimeline.known_seq,
    DatabaseTimeline.known_at,
)


class Position(msgspec.Struct, frozen=True, order=True):
    """A place in the change log: a committed seq, and its timestamp (Unix ms)."""

    seq: int = 0
    at: int = 0


class ServerTimeline(msgspec.Struct, frozen=True):
    """A server's `present` timeline (0: it is a standby), the `stored` one (None: no process has worked on
    this database yet), the stored mark (0: the timeline has never changed), and the last seq that was
    assigned."""

    present: int
    stored: int | None
    mark: int
    last_seq: int

    @property
    def is_new(self) -> bool:
        """Whether the server has begun a timeline on which nobody has gone on yet."""
        return self.stored is not None and self.present != self.stored


class Change(msgspec.Struct, frozen=True):
    """The last change of the timeline: the mark, when it was (Unix ms), the highest seq that the server had
    before it and the newest timestamp of a match (`head`, `head_at`), and the highest position that any
    process knows to have been committed."""

    mark: int
    at: int
    head: int
    head_at: int
    known_seq: int
    known_at: int

    @property
    def lost(self) -> bool:
        """Whether commits are known to be lost."""
        return self.known_seq > self.head


async def read(tx: Tx) -> ServerTimeline:
    """What this server says and stores; raises `Unavailable` where the schema lacks it."""
    try:
        row = await tx.row(server.TIMELINE)
    except asyncpg.UndefinedTableError as error:
        raise Unavailable("The schema is older than this version: run `matchfeed migrate` first.") from error
    assert row
    return ServerTimeline(**row)


@writing
def begin(present: int, /) -> Insert[Any]:
    """Store the timeline of a database on which no process has worked yet; one that is stored stays."""
    row = DatabaseTimeline(id=_ROW, timeline=present)
    return DatabaseTimeline.insert(row).on_conflict(DatabaseTimeline.id, action="DO NOTHING")


async def forget(tx: Tx, session_name: str) -> None:
    """Have every process go on as on a new timeline, with connections that are examined anew: those of this
    name end, but for this one. To be committed before anybody goes on, since sequences show at once."""
    await tx.change(_forget())
    await tx.execute(server.END_SESSIONS, session_name)


async def lock(tx: Tx) -> ServerTimeline:
    """`read`, once nobody else is about to change what is stored."""
    await tx.run(_lock())
    return await read(tx)


async def store(tx: Tx, present: int, change: Change) -> None:
    """Store that the service goes on from `change` on."""
    await tx.change(_store(present, *msgspec.structs.astuple(change)))


async def raise_known(tx: Tx, known: Position) -> Change | None:
    """Record a position that a process knows to have been committed before the last change; that change, if
    nobody has known of the loss of so much yet."""
    rows = await tx.run(_raise_known(known.seq, known.at))
    return Change(**rows[0]) if rows else None


@prepared
def _forget() -> Update[Any]:
    return DatabaseTimeline.update({DatabaseTimeline.timeline: 0}).where(DatabaseTimeline.id == _ROW)


@prepared
def _lock() -> Select[Any]:
    return DatabaseTimeline.select(DatabaseTimeline.id).lock_rows("UPDATE")


@prepared
def _store(present: int, *change: object) -> Insert[Any]:
    row: dict[str, Any] = dict(zip(Change.__struct_fields__, change, strict=True))
    return DatabaseTimeline.insert(DatabaseTimeline(id=_ROW, timeline=present, **row)).on_conflict(
        DatabaseTimeline.id, action="DO UPDATE", values=[DatabaseTimeline.timeline, *_COLUMNS]
    )


@prepared
def _raise_known(seq: int, at: int) -> Update[Any]:
    highest = QueryString("greatest({}, {})", DatabaseTimeline.head, DatabaseTimeline.known_seq)
    values: dict[Column | str, Any] = {DatabaseTimeline.known_seq: seq, DatabaseTimeline.known_at: at}
    return (
        DatabaseTimeline.update(values)
        .where(DatabaseTimeline.id == _ROW, QueryString("{} < {}::bigint", highest, seq))
        .returning(*_COLUMNS)
    )
