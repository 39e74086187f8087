"""Databases for tests: migrated once a session, copied a few times, then emptied after each test."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import msgspec

from app.store.connections import Store
from app.store.migrations import migrate
from tests.support.loop import Loop

_PREFIX = "matchfeed_test"
_AT_ONCE = 2  #: databases: one for the present test, one for the next
_SECONDS_TO_CLOSE = 1.0
_MOST_BYTES = 6_000_000  #: of the tables that a test has written; what they have grown by is not given back
_TABLES = """SELECT oid, oid::regclass::text FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 2"""
_CATALOGUES = """SELECT oid FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'pg_catalog'::regnamespace AND NOT relisshared"""
_SEQUENCES = """SELECT format('setval(%L, %s, %L)', format('%I.%I', schemaname, sequencename),
    coalesce(last_value, start_value), last_value IS NOT NULL) FROM pg_sequences ORDER BY 1"""
#: Which of these tables have been written since `pg_stat_reset`. Each session reports what it did at its end
#: at the latest, before it leaves `pg_stat_activity`.
_WRITTEN = """SELECT oid, pg_total_relation_size(oid::oid) FROM unnest('{{{}}}'::int[]) AS oid WHERE
    pg_stat_get_tuples_inserted(oid::oid) + pg_stat_get_tuples_updated(oid::oid)
    + pg_stat_get_tuples_deleted(oid::oid) > 0"""
#: Whether somebody has created, altered, dropped, vacuumed or analyzed something since.
_ALTERED = """SELECT EXISTS (SELECT FROM unnest('{{{}}}'::int[]) AS oid WHERE
    pg_stat_get_tuples_inserted(oid::oid) + pg_stat_get_tuples_updated(oid::oid)
    + pg_stat_get_tuples_deleted(oid::oid) > 0)
OR EXISTS (SELECT FROM unnest('{{{}}}'::int[]) AS oid WHERE
    pg_stat_get_vacuum_count(oid::oid) + pg_stat_get_analyze_count(oid::oid) > 0)"""
_OTHERS = """SELECT EXISTS (SELECT FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend')"""


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


class Databases:
    """Migrated, empty databases for one test after another: copies of `template`, emptied between two tests,
    which takes a tenth of a copy. While a test uses one, the next is made ready. A database that a test has
    altered otherwise than by its rows is dropped instead."""

    def __init__(self, server_url: str, template: str) -> None:
        self._server_url, self._template = server_url, template
        self._loop = Loop()
        self._ready: list[Future[str]] = []

    def __enter__(self) -> Self:
        self._loop.__enter__()
        self._pristine = self._loop.run(_pristine(named(self._server_url, self._template)))
        self._ready = [self._loop.begin(self._copied()) for _ in range(_AT_ONCE)]
        return self

    def __exit__(self, *error: Any) -> None:
        names = [each.result() for each in self._ready]
        self._loop.run(_drop_all(self._server_url, names))
        self._loop.__exit__(*error)

    def take(self) -> str:
        """The URL of a database that is as `template` is."""
        name = self._ready.pop(0) if self._ready else self._loop.begin(self._copied())
        return named(self._server_url, name.result())

    def give_back(self, url: str) -> None:
        """Another test may have it in a while; sessions that are still open after a second are ended."""
        self._ready.append(self._loop.begin(self._again(url)))

    async def _again(self, url: str) -> str:
        name = urlsplit(url).path[1:]
        if await _emptied(url, self._pristine):
            return name
        await drop(self._server_url, name)
        return await self._copied()

    async def _copied(self) -> str:
        name = await _copy(self._server_url, self._template)
        await _execute(self._server_url, f'ALTER DATABASE "{name}" SET synchronous_commit = off')
        return name


class _Pristine(msgspec.Struct, frozen=True):
    """What there is in a database after the migrations: what empties each of its tables of all else, by the
    table's oid, which copies keep, and what resets its sequences."""

    tables: dict[int, str]
    sequences: str
    altered: str  #: query: whether there is anything else
    written: str  #: query: the tables that have been written


async def _pristine(url: str) -> _Pristine:
    connection = await asyncpg.connect(url, timeout=10)
    try:
        tables = {}
        for oid, table in await connection.fetch(_TABLES):
            tables[oid] = f"DELETE FROM {table}"
            if rows := await connection.fetchval(f"SELECT json_agg(r)::text FROM {table} r"):
                literal = "'" + rows.replace("'", "''") + "'"
                tables[oid] += (
                    f";\nINSERT INTO {table} SELECT * FROM json_populate_recordset(NULL::{table}, {literal})"
                )
        sequences = "SELECT " + ", ".join(each for (each,) in await connection.fetch(_SEQUENCES))
        own = ",".join(map(str, tables))
        catalogues = ",".join(str(oid) for (oid,) in await connection.fetch(_CATALOGUES))
        return _Pristine(tables, sequences, _ALTERED.format(catalogues, own), _WRITTEN.format(own))
    finally:
        await connection.close()


async def _emptied(url: str, pristine: _Pristine) -> bool:
    """Whether the database is as `pristine` again: somebody may still use it, or have altered its tables."""
    connection = await asyncpg.connect(url, timeout=10)
    try:
        async with asyncio.timeout(_SECONDS_TO_CLOSE):
            while await connection.fetchval(_OTHERS):
                await asyncio.sleep(0.01)
        if await connection.fetchval(pristine.altered):
            return False
        written = dict(await connection.fetch(pristine.written))
        if sum(written.values()) > _MOST_BYTES:
            return False
        await connection.execute(
            ";\n".join(
                (
                    "SET session_replication_role = replica",  # no trigger runs
                    *(pristine.tables[oid] for oid in written),
                    pristine.sequences,
                    "SELECT pg_stat_force_next_flush()",
                )
            )
        )
        await connection.execute("SELECT pg_stat_reset()")
    except TimeoutError:
        return False
    finally:
        await connection.close()
    return True


async def _drop_all(server_url: str, names: Iterable[str]) -> None:
    """Together: each drop waits for a checkpoint of the whole server, and drops at one time share it."""
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
