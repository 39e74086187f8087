"""Lets a process use a database server only once the service has gone on from what that server has.

Each new connection is examined before anybody uses it. A server that was promoted, and may lack commits, is
first put in order, in one transaction of whichever process comes first (`Failover.go_on`); the others say
what they know to be lost. Since no connection is used before that, nothing is numbered in between.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import timeline
from app.store.timeline import Position, ServerTimeline
from app.store.transaction import Tx

log = get_logger(__name__)


class OutdatedServer(Unavailable):
    """The server is not the primary, or no longer: another one was promoted in its place."""


class Failover(Protocol):
    """What is done about a promoted server, each in one transaction."""

    async def go_on(self, tx: Tx, present: int, known: Position) -> int:
        """Go on on the timeline `present`; `known` is what this process knows to have been committed before.
        The mark: the seq from which the change log is read."""

    async def report(self, tx: Tx, known: Position) -> None:
        """Another process has gone on; record what this one knows to have been committed before."""


class TimelineGuard:
    """The guard of one process's connections. `transaction` opens one outside the pool, on a server that is
    not outdated; `on_change` is awaited when the process begins to work on another history."""

    def __init__(
        self,
        failover: Failover,
        transaction: Callable[[], AbstractAsyncContextManager[Tx]],
        on_change: Callable[[], Awaitable[None]],
    ) -> None:
        self._failover, self._transaction, self._on_change = failover, transaction, on_change
        self._newest = 0
        self._mark: int | None = None
        self._known = Position()
        self._following: asyncio.Task[None] | None = None

    def note(self, mark: int, committed: Position) -> None:
        """This process has seen that `committed` is, in the history with that mark."""
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
            await timeline.begin(Tx(connection), found.present)
            found = await self.examine(connection)
        if self._lacks_commits(found) or (self._mark is not None and found.mark != self._mark):
            await self._follow()
            found = await self.examine(connection)
            if self._lacks_commits(found) or found.mark != self._mark:
                raise Unavailable("The database failed over a moment ago; try again.", retry_after=1)
        self._newest, self._mark = found.present, found.mark
        connection.history = found.mark

    def _lacks_commits(self, found: ServerTimeline) -> bool:
        """Whether the server may: it begins a timeline, or would assign numbers again that this process has
        seen (after a crash without `synchronous_commit`, or with the disk of an earlier moment)."""
        return found.is_new or (found.mark == self._mark and found.last_seq < self._known.seq)

    async def examine(self, connection: Any) -> ServerTimeline:
        """The server's timeline; raises `OutdatedServer` for a standby, and for a primary that was replaced
        by one that this process has worked on."""
        found = await timeline.read(Tx(connection))
        if found.present == 0:
            raise OutdatedServer("The database server is a standby.", retry_after=1)
        if found.present < self._newest:
            log.error(
                "a former primary accepts connections: stop it", timeline=found.present, newest=self._newest
            )
            raise OutdatedServer("The database server is a former primary.", retry_after=1)
        return found

    def close(self) -> None:
        """Put nothing in order any more."""
        if self._following:
            self._following.cancel()

    async def _follow(self) -> None:
        """Have one task for all connections that wait. It outlives them: they wait for a limited time."""
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
            found = await timeline.lock(tx)
            mark = found.mark
            if self._lacks_commits(found):
                mark = await self._failover.go_on(tx, found.present, self._known)
            elif self._known.seq:
                await self._failover.report(tx, self._known)
        log.warning("the database failed over", timeline=found.present, mark=mark, known=self._known.seq)
        self._newest, self._mark, self._known = found.present, mark, Position()
        await self._on_change()
