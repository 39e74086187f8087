"""Databases for tests: migrated once a session, then copied, which takes a fraction of a migration."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Self
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from app.store.connections import Store
from app.store.migrations import migrate

_PREFIX = "matchfeed_test"
_DROPPED_TOGETHER = 8


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
    name = await _copy(server_url, template)
    try:
        yield named(server_url, name)
    finally:
        await drop(server_url, name)


class Copies:
    """Fresh copies of `template` for one test after another. The next copy is made while a test runs. Copies
    that were given back are dropped together: each drop waits for a checkpoint of the whole server, and drops
    at one time share it."""

    def __init__(self, server_url: str, template: str) -> None:
        self._server_url, self._template = server_url, template
        self._background = ThreadPoolExecutor(2)  # so that no copy waits for drops
        self._returned: list[str] = []
        self._dropping: list[Future[None]] = []

    def __enter__(self) -> Self:
        self._next = self._prepared()
        return self

    def __exit__(self, *_: object) -> None:
        self._returned.append(self._next.result())
        self._drop_returned()
        for dropped in self._dropping:
            dropped.result()
        self._background.shutdown()

    def take(self) -> str:
        """The URL of a copy that nobody has used."""
        prepared, self._next = self._next, self._prepared()
        return named(self._server_url, prepared.result())

    def give_back(self, url: str) -> None:
        """It is dropped in a while, open connections included."""
        self._returned.append(urlsplit(url).path[1:])
        if len(self._returned) >= _DROPPED_TOGETHER:
            self._drop_returned()

    def _prepared(self) -> Future[str]:
        return self._background.submit(lambda: asyncio.run(_copy(self._server_url, self._template)))

    def _drop_returned(self) -> None:
        work = partial(_drop_all, self._server_url, self._returned)
        self._dropping.append(self._background.submit(lambda: asyncio.run(work())))
        self._returned = []


async def _drop_all(server_url: str, names: Iterable[str]) -> None:
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(drop(server_url, name))


async def _copy(server_url: str, template: str) -> str:
    name = f"{template}_{secrets.token_hex(4)}"
    await _execute(server_url, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return name


async def end_sessions(store: Store, query: str = "%") -> int:
    """End every other session on the store's database whose last query is like this one; how many."""
    return await _of_sessions(store, "count(pg_terminate_backend(pid))", query)


async def sessions(store: Store, query: str) -> int:
    """How many sessions on the store's database have a last query like this one."""
    return await _of_sessions(store, "count(*)", query)


async def _of_sessions(store: Store, what: str, query: str = "%") -> int:
    async with store.autocommit() as tx:
        count: int = await tx.value(
            f"SELECT {what} FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND query ILIKE $1",
            query,
        )
    return count


async def transactions(store: Store) -> int:
    """How many transactions other sessions on the store's database have open."""
    return await _of_sessions(store, "count(xact_start)")


async def waiting(store: Store) -> int:
    """How many statements on the store's database wait for a lock of another one."""
    return await _of_sessions(store, "count(*) FILTER (WHERE wait_event_type = 'Lock')")


async def create(url: str) -> None:
    """Create an empty database."""
    await _execute(url, f'CREATE DATABASE "{urlsplit(url).path[1:]}"')


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
