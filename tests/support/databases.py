"""Databases for tests: migrated once a session, then copied, which takes a fraction of a migration."""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Self
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


async def copy(server_url: str, template: str) -> str:
    """Copy a database; the copy's name."""
    name = f"{template}_{secrets.token_hex(4)}"
    await _execute(server_url, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return name


@asynccontextmanager
async def copied(server_url: str, template: str) -> AsyncIterator[str]:
    """The URL of a fresh copy of `template`, dropped afterwards, open connections included."""
    name = await copy(server_url, template)
    try:
        yield named(server_url, name)
    finally:
        await drop(server_url, name)


class Copies:
    """Copies of `template`, made ahead and dropped afterwards while tests run: both mostly wait for the disk,
    together longer than most tests take."""

    def __init__(self, server_url: str, template: str, ahead: int = 2) -> None:
        self._server_url, self._template = server_url, template
        self._making, self._dropping = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self._ready = deque(self._making.submit(self._make) for _ in range(ahead))
        self._dropped: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Drop what is left; raises the first error of any drop."""
        for name in self._ready:
            self._drop(name.result())
        self._making.shutdown()
        self._dropping.shutdown()
        for dropped in self._dropped:
            dropped.result()

    @asynccontextmanager
    async def copied(self) -> AsyncIterator[str]:
        """The URL of a fresh copy, dropped afterwards, open connections included."""
        self._ready.append(self._making.submit(self._make))
        name = await asyncio.wrap_future(self._ready.popleft())
        try:
            yield named(self._server_url, name)
        finally:
            self._drop(name)

    def _make(self) -> str:
        return asyncio.run(copy(self._server_url, self._template))

    def _drop(self, name: str) -> None:
        self._dropped.append(self._dropping.submit(asyncio.run, drop(self._server_url, name)))


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
