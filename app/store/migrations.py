"""Migrate a database to the present schema: create it when it is missing, run the pending migrations.

Piccolo runs in a process of its own, because it holds its engine in module state and prints as it runs; its
output appears only when it fails. That takes a second, so it runs only where a migration is pending.
"""

import asyncio
import os
import re
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from app.kit.errors import Conflict
from app.kit.logging import get_logger, redact
from app.store import servers
from app.store.statements import server
from app.store.transaction import Tx, translate_errors

#: The directory of `app`, for Piccolo's process to import it: a checkout, or an installation's site-packages.
_PARENT = Path(__file__).parents[2]
_LOCK = 7232652  #: the advisory lock for migrating
_COMMAND = ("-m", "piccolo.main", "migrations", "forwards", "matchfeed", "--trace")
_BASELINE = "2031-02-01T00:00:01:000000"  #: the migration that makes version 0.2.0
_TOO_OLD = (
    "A version before 0.2.0 made this database, and no later one can read it: set DATABASE_URL "
    "to a database that does not exist yet, or drop this one (`dropdb`), and run `matchfeed migrate`."
)
_TABLE_IN_USE = "LockNotAvailableError"  #: in Piccolo's output
_PATIENCE_SECONDS, _RETRY_SECONDS = 120.0, 1.0
_ID = re.compile(r'^ID = "([^"]+)"$', re.MULTILINE)
log = get_logger(__name__)


async def migrate(database_url: str) -> None:
    """Migrate the database at `database_url`, creating it first when it does not exist.

    Safe to run again, and by several processes at once: a lock serialises them. Processes of the service may
    run meanwhile: a migration that needs a table which another transaction uses, such as a dump, has them
    wait for half a second at most, and is tried again for two minutes. Raises `Unavailable` when PostgreSQL
    is down, `Conflict` for a database of a version before 0.2.0, `RuntimeError` with Piccolo's
    output when a migration fails.
    """
    async with translate_errors():
        connection = await _connect(database_url)
        try:
            await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
            await _refuse_development_state(connection)
            if await pending_migrations(Tx(connection)):
                await _forwards(database_url)
        finally:
            await connection.close()


async def _refuse_development_state(connection: asyncpg.Connection) -> None:
    """Raise `Conflict` for a database that a version before 0.2.0 has made."""
    if await connection.fetchval(server.HAS_MIGRATIONS):
        applied = [row["name"] for row in await connection.fetch(server.MIGRATIONS)]
        if any(name < _BASELINE for name in applied):
            raise Conflict(_TOO_OLD)


async def _connect(database_url: str) -> asyncpg.Connection:
    try:
        return await servers.connect(database_url, timeout=5)
    except asyncpg.InvalidCatalogNameError:
        await _create_database(database_url)
        return await servers.connect(database_url, timeout=5)


async def _create_database(database_url: str) -> None:
    async with _server_of(database_url) as (connection, name):
        try:
            await connection.execute(f"CREATE DATABASE {name}")
            log.info("database created", database=name)
        except (asyncpg.DuplicateDatabaseError, asyncpg.UniqueViolationError):
            log.info("database created by another process", database=name)


async def drop_database(database_url: str) -> None:
    """Drop a database that was made for one purpose only, its sessions included; nothing, if there is none.

    Raises `Unavailable` when PostgreSQL is down.
    """
    async with translate_errors(), _server_of(database_url) as (connection, name):
        await connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@asynccontextmanager
async def _server_of(database_url: str) -> AsyncIterator[tuple[asyncpg.Connection, str]]:
    """A connection to the server's own database, and the quoted name of the one in the URL."""
    parts = urlsplit(database_url)
    connection = await servers.connect(urlunsplit(parts._replace(path="/postgres")), timeout=5)
    try:
        yield connection, '"' + parts.path.lstrip("/").replace('"', '""') + '"'
    finally:
        await connection.close()


async def _forwards(database_url: str) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while (output := await _run_piccolo(database_url)) is not None:
        if _TABLE_IN_USE not in output or time.monotonic() > until:
            raise RuntimeError(f"the migrations failed:\n{output}")
        log.warning("a migration needs a table that another transaction uses, retrying")
        await asyncio.sleep(_RETRY_SECONDS)


async def _run_piccolo(database_url: str) -> str | None:
    """Run all pending migrations, each in a transaction of its own; the output if one has failed."""
    environment = os.environ | {
        "DATABASE_URL": servers.of_primary(database_url),
        "PICCOLO_CONF": "app.store.piccolo_conf",
        "PYTHONIOENCODING": "utf-8",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *_COMMAND,
        cwd=_PARENT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:  # we were cancelled: what it has not committed is undone
            process.kill()
            await process.wait()
    return redact(output.decode(errors="replace")) if process.returncode else None


async def pending_migrations(tx: Tx) -> list[str]:
    """The migrations of this version that the database has not run, oldest first; all where it is empty."""
    known = _known_migrations()
    if not await tx.value(server.HAS_MIGRATIONS):
        return sorted(known)
    applied = {row["name"] for row in await tx.fetch(server.MIGRATIONS)}
    return sorted(known - applied)


def _known_migrations() -> set[str]:
    """The ids in the files of our migrations, which only the process of Piccolo imports."""
    folder = resources.files("app.store.piccolo_migrations")
    texts = (each.read_text() for each in folder.iterdir() if each.name.endswith(".py"))
    return {found[1] for text in texts if (found := _ID.search(text))}
