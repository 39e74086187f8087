"""Databases for tests: migrated once a session, then copied, which takes a fraction of a migration."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from app.store.migrations import migrate

_PREFIX = "matchfeed_test"


def named(url: str, database: str) -> str:
    """`url` with another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


async def make_template(server_url: str) -> str:
    """Migrate a new database to copy from; its name."""
    name = f"{_PREFIX}_{secrets.token_hex(4)}"
    await migrate(named(server_url, name))
    return name


@asynccontextmanager
async def copied(server_url: str, template: str) -> AsyncIterator[str]:
    """The URL of a fresh copy of `template`, dropped afterwards, open connections included."""
    name = f"{template}_{secrets.token_hex(4)}"
    await _execute(server_url, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        yield named(server_url, name)
    finally:
        await drop(server_url, name)


async def drop(server_url: str, name: str) -> None:
    await _execute(server_url, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


async def _execute(server_url: str, statement: str) -> None:
    connection = await asyncpg.connect(named(server_url, "postgres"), timeout=10)
    try:
        await _patiently(connection, statement)
    finally:
        await connection.close()


async def _patiently(connection: asyncpg.Connection, statement: str) -> None:
    """The template may be in use for a moment (its last session closing, another copy). To drop a database is
    to wait for a checkpoint of the whole server, which others' databases make long."""
    async with asyncio.timeout(60):
        while True:
            try:
                await connection.execute(statement)
                return
            except asyncpg.ObjectInUseError:
                await asyncio.sleep(0.05)
