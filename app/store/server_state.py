"""The state of the database and of its server, for those who look after them."""

import re
from importlib import resources

import msgspec

from app.store.statements import server
from app.store.transaction import Tx

_ID = re.compile(r'^ID = "([^"]+)"$', re.MULTILINE)


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


async def read(tx: Tx) -> ServerState:
    row = await tx.row(server.STATE)
    assert row
    return ServerState(**row)


async def archiving(tx: Tx) -> Archiving:
    row = await tx.row(server.ARCHIVING)
    assert row
    return Archiving(**row)


async def log_extent(tx: Tx) -> LogExtent:
    row = await tx.row(server.LOG_EXTENT)
    assert row
    return LogExtent(**row)


async def pending_migrations(tx: Tx) -> list[str]:
    """The migrations of this version that the database has not run, oldest first; all where it is empty."""
    known = _known_migrations()
    if not await tx.value(server.HAS_MIGRATIONS):
        return sorted(known)
    applied = {row["name"] for row in await tx.fetch(server.MIGRATIONS)}
    return sorted(known - applied)


def _known_migrations() -> set[str]:
    """Read and not imported: the modules load the settings."""
    folder = resources.files("app.store.piccolo_migrations")
    texts = (each.read_text() for each in folder.iterdir() if each.name.endswith(".py"))
    return {found[1] for text in texts if (found := _ID.search(text))}
