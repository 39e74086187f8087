"""The state of the database and of its server, for operators; and the end of sessions that hold locks for a
process that does not run (it is suspended, or its machine is paused).

PostgreSQL ends a session that is idle in a transaction (`connections`), but none that is in the middle of a
statement and waits for its client: no timeout of PostgreSQL 15 applies. It waits for the rest of the
statement, because the driver sends the text of a statement that it has not prepared yet, and the arguments
once PostgreSQL has parsed the text; or for the client to read the result. A process that stops there would
hold its locks until it goes on.
"""

import asyncio
import time
from datetime import datetime

import msgspec

from app.kit.background import retry_while_unavailable
from app.kit.logging import get_logger
from app.store.connections import SESSION_NAME, Store
from app.store.statements import server
from app.store.transaction import Tx, translate_errors

_EVERY_SECONDS = 1.0
_STALLED_SECONDS = 5.0  #: as long as a session may be idle in a transaction
log = get_logger(__name__)


class ServerState(msgspec.Struct, frozen=True):
    """`version` of PostgreSQL as text; its clock (Unix ms); `standby`: it only replays another one's log;
    connections that are open, and how many may be; bytes of the database."""

    version: str
    now: int
    standby: bool
    connections: int
    max_connections: int
    size: int


class Archiving(msgspec.Struct, frozen=True):
    """How the server archives its write-ahead log: whether at all, and when it last succeeded and last failed
    (Unix ms; 0: never)."""

    on: bool
    archived_at: int
    failed_at: int


class LogExtent(msgspec.Struct, frozen=True):
    """The change log: the moments of its oldest and newest rows (Unix ms; 0 where it is empty)."""

    oldest: int
    newest: int


class Unanalyzed(msgspec.Struct, frozen=True):
    """A table, and how many of its rows have `changed` since its statistics were gathered."""

    name: str
    changed: int


async def read(tx: Tx) -> ServerState:
    (row,) = await tx.fetch(server.STATE)
    return ServerState(**row)


async def archiving(tx: Tx) -> Archiving:
    (row,) = await tx.fetch(server.ARCHIVING)
    return Archiving(**row)


async def log_extent(tx: Tx) -> LogExtent:
    (row,) = await tx.fetch(server.LOG_EXTENT)
    return LogExtent(**row)


async def unanalyzed(tx: Tx, least: int) -> list[Unanalyzed]:
    """The tables of which more rows have changed than half of them, and than `least`."""
    return [Unanalyzed(**row) for row in await tx.fetch(server.UNANALYZED, least)]


class _Wait(msgspec.Struct, frozen=True):
    """A session that waits for its client within a statement: `event` is what it waits for, `since` when it
    received the last message."""

    pid: int
    since: datetime
    event: str
    address: str


class StalledSessions:
    """The sessions that wait for their clients, each with when it was first seen waiting."""

    def __init__(self) -> None:
        self._first_seen: dict[_Wait, float] = {}

    async def look(self, tx: Tx, now: float) -> int:
        """End the sessions that have waited at every call for `_STALLED_SECONDS`; how many. `now` is in
        seconds, of any clock. Raises `Unavailable`."""
        waits = [_Wait(**row) for row in await tx.fetch(server.WAIT_FOR_CLIENT, SESSION_NAME)]
        self._first_seen = {wait: self._first_seen.get(wait, now) for wait in waits}
        stalled = [wait for wait, first in self._first_seen.items() if now - first >= _STALLED_SECONDS]
        ended = [wait for wait in stalled if await tx.value(server.END_SESSION, wait.pid, wait.since)]
        for wait in ended:
            log.warning("a stalled session was ended", pid=wait.pid, address=wait.address, wait=wait.event)
        return len(ended)


async def end_stalled_regularly(store: Store) -> None:
    """End stalled sessions until cancelled: in several processes, since any of them may be suspended."""
    await retry_while_unavailable("ending stalled sessions", lambda: _end_while_connected(store))


async def _end_while_connected(store: Store) -> None:
    """On a connection of its own: those of the pool may all be in use by what waits for the locks."""
    async with translate_errors():
        connection = await store.dedicated()
    try:
        sessions = StalledSessions()
        while True:
            await sessions.look(Tx(connection), time.monotonic())
            await asyncio.sleep(_EVERY_SECONDS)
    finally:
        connection.terminate()
