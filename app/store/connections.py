"""A process's pool of connections to PostgreSQL, and a filter of what the driver logs about it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Self

import asyncpg

from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import servers
from app.store.match_cache import LockedMatches, MatchCache
from app.store.statements import server
from app.store.timeline import Failover, Position, TimelineGuard
from app.store.transaction import AWAY, Tx, call_translated, translate_errors


class _PlainLines(logging.Filter):
    """Logs the error alone, without the driver's traceback, when the pool cannot reopen a connection. While
    the database is down, as in a fail-over, the traceback is of no use."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, (*AWAY, Unavailable)):
            return True
        log.warning(record.getMessage(), error=repr(error))
        return False


_PLAIN_LINES = _PlainLines()


def use_plain_lines() -> None:
    """Have the driver's pools log without a traceback that the database is down."""
    logging.getLogger("asyncpg.pool").addFilter(_PLAIN_LINES)


log = get_logger(__name__)
SESSION_NAME = "matchfeed"  #: how PostgreSQL lists our sessions (`application_name`)
#: The same for the process that may keep running while the database is restored.
AUTHORISATION_SESSION_NAME = "matchfeed-broker-authorisation"
_ACQUIRE_SECONDS = 5.0
_CLOSE_SECONDS = 5.0
_COMMAND_SECONDS = 60.0
#: A process that is suspended within a transaction holds locks that others wait for: the server ends its
#: session after this time, and rolls back. JIT is off, since PostgreSQL would compile for hundreds of
#: milliseconds a query that takes one: its estimate of what cursors have yet to read grows with the log.
_SESSION = {
    "jit": "off",
    "timezone": "UTC",
    "idle_in_transaction_session_timeout": "5000",
    "lock_timeout": "10000",
    "statement_timeout": "60000",
}


def _same(value: bytes) -> bytes:
    return value


async def prepare(connection: Any) -> None:
    """Set up a new connection: `json` values are bytes, neither parsed nor decoded."""
    await connection.set_type_codec(
        "json", schema="pg_catalog", encoder=_same, decoder=_same, format="binary"
    )


#: From here on a database numbers its own types; below, PostgreSQL does, once for all servers
#: (`FirstGenbkiObjectId`).
_FIRST_OWN_TYPE = 10_000


class _NamedStatement:
    """Stands for the driver's query about types where none was sent: like a named statement, it has not
    replaced the unnamed one that is being prepared."""

    name = "known types"


class _Session(asyncpg.Connection):  # type: ignore[misc]  # asyncpg is untyped
    """A session that needs no reset query between uses, which saves a round trip for each: nothing in the
    store sets, locks or listens for longer than a transaction. A transaction left open by a cancelled user is
    rolled back all the same. `history`: as `Tx.history`.

    The driver queries PostgreSQL's own types (arrays, for one) once a process; asyncpg 0.32 does so once a
    connection, which is half of what a new connection costs before its first result
    (`python -m scripts.bench.connections`)."""

    history = 0
    _known_types: ClassVar[dict[frozenset[int], Any]] = {}

    async def _introspect_types(self, typeoids: Collection[int], timeout: float | None) -> tuple[Any, Any]:
        wanted = frozenset(typeoids)
        if found := self._known_types.get(wanted):
            return found, _NamedStatement
        rows, statement = await super()._introspect_types(typeoids, timeout)
        if max(wanted) < _FIRST_OWN_TYPE:
            self._known_types[wanted] = rows
        return rows, statement

    def get_reset_query(self) -> str:
        return ""

    async def reset(self, *, timeout: float | None = None) -> None:
        if self.is_in_transaction():
            await self.execute("ROLLBACK", timeout=timeout)
        await super().reset(timeout=timeout)


@asynccontextmanager
async def _atomic(tx: Tx, begin: str = "BEGIN", end: str = "COMMIT") -> AsyncIterator[None]:
    """A transaction around the block. The block's own exceptions are raised unchanged."""
    run = tx.connection.execute
    await call_translated(run, begin)
    try:
        yield
    except BaseException:
        if not _lost(tx.connection):
            await _rolled_back(tx.connection)
        raise
    await call_translated(run, end)


async def _rolled_back(connection: Any) -> None:
    """Roll back. Where that fails, the connection's release tries again, and cuts it if that fails too.

    The failure is not raised: it would take the place of a cancellation, and a task that retries after
    database errors would never end.
    """
    try:
        await connection.execute("ROLLBACK")
    except Exception as error:
        log.warning("the transaction could not be rolled back", exc_info=error)


def _lost(connection: Any) -> bool:
    try:
        closed: bool = connection.is_closed()
    except asyncpg.InterfaceError:  # the pool has reclaimed the lost connection already
        return True
    return closed


class Store:
    """Transactions on one database. Open it with `open_store`, end it with `close`."""

    def __init__(self, connections: "_Connections", pool: asyncpg.Pool, cache: MatchCache | None) -> None:
        self._connections, self._guard = connections, connections.guard
        self._pool = pool
        self._cache = cache

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        """A read-write transaction (READ COMMITTED): committed at the end, rolled back on any error.

        Raises `Unavailable` when the database is down, on a lock timeout, and on errors that call for a
        retry.
        """
        async with self.autocommit() as tx:
            locked = tx.cache = LockedMatches(self._cache) if self._cache else None
            async with _atomic(tx):
                yield tx
            # What a former primary still commits says nothing about its successor.
            if locked and (self._guard is None or self._guard.is_present(tx.history)):
                locked.commit()

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Tx]:
        """A read-only transaction in which every statement sees the same moment."""
        async with self.autocommit() as tx, _atomic(tx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield tx

    @asynccontextmanager
    async def dry_run(self) -> AsyncIterator[Tx]:
        """A transaction that may write, and is rolled back at its end."""
        async with self.autocommit() as tx:
            async with _atomic(tx, end="ROLLBACK"):
                yield tx
            tx.reached = (0, 0)

    @asynccontextmanager
    async def autocommit(self) -> AsyncIterator[Tx]:
        """A pooled connection on which every statement, a read or a write, is a transaction of its own.

        Each sees the present. A process that is suspended between two of them holds no lock.
        """
        connection = await call_translated(self._pool.acquire, timeout=_ACQUIRE_SECONDS)
        tx = Tx(connection)
        tx.history = connection.history
        try:
            yield tx
            if self._guard:
                self._guard.note(tx.history, Position(*tx.reached))
        finally:
            del tx.connection  # a leaked handle must not reach the connection's next user
            await self._release(connection)

    async def _release(self, connection: Any) -> None:
        """Return a connection to the pool, which replaces it where that fails.

        The failure is not raised: what ran on the connection has succeeded or raised its own exception, a
        cancellation perhaps, which would be lost.
        """
        try:
            await self._pool.release(connection)
        except Exception as error:
            log.warning("a connection was cut: it could not be released", exc_info=error)

    async def check(self) -> None:
        """Run a query; raises `Unavailable` when the database does not respond."""
        async with self.autocommit() as tx:
            await tx.value(server.CHECK)

    async def dedicated(self) -> asyncpg.Connection:
        """A connection outside the pool, which the caller closes (`notifications` listens on one)."""
        return await self._connections.open(_ACQUIRE_SECONDS)

    async def close(self) -> None:
        """Let running transactions end, for a few seconds, then close every connection."""
        if self._guard:
            self._guard.close()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._pool.close()
        except TimeoutError:
            log.warning("transactions cut off: they did not end in time")
            self._pool.terminate()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Connections:
    """How this process connects: to which servers, and as which session. With a `guard` only to those that it
    admits."""

    def __init__(self, url: str, session: Mapping[str, str]) -> None:
        self._url, self._session = url, session
        self.guard: TimelineGuard | None = None

    async def open(self, timeout: float) -> asyncpg.Connection:
        """A connection outside the pool."""
        return await self.pooled(self._url, **self._options(timeout))

    async def pooled(self, url: str, **options: Any) -> asyncpg.Connection:
        """A connection with these options."""
        return await servers.connect(url, examine=self.guard.admit if self.guard else None, **options)

    def _options(self, timeout: float) -> dict[str, Any]:
        return {
            "timeout": timeout,
            "command_timeout": _COMMAND_SECONDS,
            "connection_class": _Session,
            "server_settings": self._session,
        }

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        """A transaction on a connection of its own, which the guard need not admit."""
        assert self.guard
        async with translate_errors():
            connection = await servers.connect(
                self._url, examine=self.guard.examine, **self._options(_ACQUIRE_SECONDS)
            )
            try:
                await prepare(connection)
                tx = Tx(connection)
                async with _atomic(tx):
                    yield tx
            finally:
                connection.terminate()


async def open_store(
    database_url: str,
    pool_size: int,
    cached_matches: int = 0,
    *,
    session_name: str = SESSION_NAME,
    failover: Failover | None = None,
) -> Store:
    """Connect to the database, with at most `pool_size` connections; raises `Unavailable` when it is down or
    does not exist yet. `cached_matches`: how many of the matches that this process writes are cached.
    `session_name`: how PostgreSQL lists the sessions. `failover`: what is done before a promoted server is
    used; without it no timeline is checked, and the process may write nothing that is published."""
    use_plain_lines()
    settings = _SESSION | {"application_name": session_name}
    cache = MatchCache(cached_matches) if cached_matches else None
    connections = _Connections(database_url, settings)
    pool: asyncpg.Pool | None = None

    async def init(connection: Any) -> None:
        if cache:
            cache.clear()
        await prepare(connection)

    async def replace_connections() -> None:
        if pool is not None:
            await pool.expire_connections()

    if failover is not None:
        connections.guard = TimelineGuard(
            failover, session_name, connections.transaction, replace_connections
        )
    try:
        async with translate_errors():
            pool = await asyncpg.create_pool(
                database_url,
                min_size=1,
                max_size=pool_size,
                timeout=_ACQUIRE_SECONDS,
                command_timeout=_COMMAND_SECONDS,
                init=init,
                connect=connections.pooled,
                connection_class=_Session,
                server_settings=settings,
            )
    except asyncpg.InvalidCatalogNameError as error:
        raise Unavailable(f"{error}: run `matchfeed migrate` first.", retry_after=1) from error
    return Store(connections, pool, cache)
