"""The timeline of the PostgreSQL server on which the service works, and which commits its last change lost.

A server begins a new timeline when it is promoted, or restored to a moment of its past. It may then lack
commits that were already published: each of their numbers would mean two things if it was assigned again.
`TimelineGuard` lets nobody use such a server before `operations.restoration.failover` has gone on with higher
numbers and stored the new timeline. The seq from which the change log is read since then, the *mark*, tells
one history of the database from the other.

Each new connection is examined before anybody uses it. If the server was promoted, and may lack commits, the
first process that connects moves its sequences, in one transaction (`Failover.go_on`); the others record what
they know to have been committed (`Failover.report`). No connection is used before that, so no number is
assigned in between.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import asyncpg
import msgspec
from piccolo.columns import Column
from piccolo.query import Insert, Select, Update
from piccolo.querystring import QueryString

from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store.prepared import prepared, writing
from app.store.row_mapping import RowMapping
from app.store.statements import server
from app.store.tables.operations import DatabaseTimeline
from app.store.transaction import Tx

_ROW = 1
log = get_logger(__name__)


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


_CHANGES = RowMapping(DatabaseTimeline, Change)


async def read(tx: Tx) -> ServerTimeline:
    """This server's timeline, and the one that it stores; raises `Unavailable` where the schema lacks it."""
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
    """Have every process treat the server's timeline as new, with connections that are examined again: other
    sessions of this name end. Commit it before any sequence is moved, since sequences are visible at once."""
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
    the position is beyond all that were recorded."""
    row = await tx.first(_raise_known(known.seq, known.at))
    return _CHANGES.read(row) if row else None


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
        DatabaseTimeline.id, action="DO UPDATE", values=[DatabaseTimeline.timeline, *_CHANGES.columns]
    )


@prepared
def _raise_known(seq: int, at: int) -> Update[Any]:
    highest = QueryString("greatest({}, {})", DatabaseTimeline.head, DatabaseTimeline.known_seq)
    values: dict[Column | str, Any] = {DatabaseTimeline.known_seq: seq, DatabaseTimeline.known_at: at}
    return (
        DatabaseTimeline.update(values)
        .where(DatabaseTimeline.id == _ROW, QueryString("{} < {}::bigint", highest, seq))
        .returning(*_CHANGES.columns)
    )


class OutdatedServer(Unavailable):
    """The server is not the primary, or no longer: another one was promoted in its place."""


class Failover(Protocol):
    """What is done about a promoted server, each in one transaction."""

    async def go_on(self, tx: Tx, present: int, known: Position) -> int:
        """Move the sequences and store the timeline `present`; `known` is what this process knows to have
        been committed before. Returns the mark: the seq from which the change log is read."""

    async def report(self, tx: Tx, known: Position) -> None:
        """Another process has gone on; record what this one knows to have been committed before."""


class TimelineGuard:
    """The guard of one process's connections. `session_name` is that of all processes' sessions;
    `transaction` opens one outside the pool, on a server that is not outdated; `on_change` is awaited when
    the process begins to work on another history."""

    def __init__(
        self,
        failover: Failover,
        session_name: str,
        transaction: Callable[[], AbstractAsyncContextManager[Tx]],
        on_change: Callable[[], Awaitable[None]],
    ) -> None:
        self._failover, self._session_name = failover, session_name
        self._transaction, self._on_change = transaction, on_change
        self._newest = 0
        self._mark: int | None = None
        self._known = Position()
        self._following: asyncio.Task[None] | None = None

    def note(self, mark: int, committed: Position) -> None:
        """Note that this process has seen `committed` committed, in the history with that mark."""
        if mark == self._mark and committed > self._known:
            self._known = committed

    def is_present(self, mark: int) -> bool:
        """Whether this is the history that the process works on."""
        return mark == self._mark

    async def admit(self, connection: Any) -> None:
        """Return once the connection may be used; it then has the mark of its history. Raises
        `OutdatedServer`, and `Unavailable` while the server cannot be put in order."""
        found = await self.examine(connection)
        if found.stored is None:
            await begin(Tx(connection), found.present)
            found = await self.examine(connection)
        moved = self._mark is not None and found.mark != self._mark
        if self._following or moved or self._lacks_commits(found):
            await self._follow()
            found = await self.examine(connection)
            if self._lacks_commits(found) or found.mark != self._mark:
                raise Unavailable("The database failed over a moment ago; try again.", retry_after=1)
        self._newest, self._mark = found.present, found.mark
        connection.history = found.mark

    def _lacks_commits(self, found: ServerTimeline) -> bool:
        """Whether the server may lack some: it begins a timeline, or would assign numbers again that this
        process has seen (after a crash without `synchronous_commit`, or with an earlier copy of its disk)."""
        return found.is_new or (found.mark == self._mark and found.last_seq < self._known.seq)

    async def examine(self, connection: Any) -> ServerTimeline:
        """The server's timeline; raises `OutdatedServer` for a standby, and for a primary that was replaced
        by one that this process has worked on."""
        found = await read(Tx(connection))
        if found.present == 0:
            raise OutdatedServer("The database server is a standby.", retry_after=1)
        if found.present < self._newest:
            log.error(
                "a former primary accepts connections: stop it", timeline=found.present, newest=self._newest
            )
            raise OutdatedServer("The database server is a former primary.", retry_after=1)
        return found

    def close(self) -> None:
        """Cancel the task that handles a promoted server."""
        if self._following:
            self._following.cancel()

    async def _follow(self) -> None:
        """Wait for the one task that handles the server for all connections. It outlives them: they wait for
        a limited time."""
        if self._following is None:
            self._following = asyncio.create_task(self._go_on())
            self._following.add_done_callback(self._ended)
        try:
            await asyncio.shield(self._following)
        except Exception as error:
            what = "The database failed over and is not in order yet; try again."
            raise Unavailable(what, retry_after=1) from error

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._following = None
        if task.cancelled() or not (error := task.exception()):
            return
        if isinstance(error, Unavailable):
            log.warning("a promoted database server is not in order yet", error=error.detail)
        else:
            log.error("a promoted database server could not be put in order", exc_info=error)

    async def _go_on(self) -> None:
        async with self._transaction() as tx:
            found = await lock(tx)
            if self._lacks_commits(found) and not found.is_new:
                await forget(tx, self._session_name)
        async with self._transaction() as tx:
            found = await lock(tx)
            mark = found.mark
            if found.is_new:
                mark = await self._failover.go_on(tx, found.present, self._known)
            elif self._known.seq:
                await self._failover.report(tx, self._known)
        log.warning("the database failed over", timeline=found.present, mark=mark, known=self._known.seq)
        self._newest, self._mark, self._known = found.present, mark, Position()
        await self._on_change()
