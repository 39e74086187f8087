"""The pool of connections that a process has to PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import asyncpg

from app.kit.logging import get_logger
from app.store.transaction import Tx, call_translated, translate_errors

log = get_logger(__name__)
_ACQUIRE_SECONDS = 5.0
_CLOSE_SECONDS = 5.0
#: A process that is stopped in the middle of a transaction holds locks that everyone waits for: the
#: server ends its session after this long, and rolls back.
_SESSION = {
    "application_name": "matchfeed",
    "timezone": "UTC",
    "idle_in_transaction_session_timeout": "5000",
    "lock_timeout": "10000",
    "statement_timeout": "60000",
}


def _same(value: bytes) -> bytes:
    return value


async def prepare(connection: Any) -> None:
    """Set a fresh connection up: `json` values are bytes, neither parsed nor decoded on the way."""
    await connection.set_type_codec(
        "json", schema="pg_catalog", encoder=_same, decoder=_same, format="binary"
    )


class _Session(asyncpg.Connection):  # type: ignore[misc]  # asyncpg tells no types
    """A session that its users leave as they found it: nothing in the store sets, locks or listens for
    longer than a transaction. So there is nothing to reset between two of them, which would be a question
    more for each; a transaction whose user was cancelled as it began or ended is rolled back all the same."""

    def get_reset_query(self) -> str:
        return ""

    async def reset(self, *, timeout: float | None = None) -> None:
        if self.is_in_transaction():
            await self.execute("ROLLBACK", timeout=timeout)
        await super().reset(timeout=timeout)


@asynccontextmanager
async def _atomic(tx: Tx, begin: str = "BEGIN") -> AsyncIterator[None]:
    """All or nothing. What goes wrong in the block itself passes as it is."""
    await tx.execute(begin)
    try:
        yield
    except BaseException:
        if not _lost(tx.connection):
            await tx.execute("ROLLBACK")
        raise
    await tx.execute("COMMIT")


def _lost(connection: Any) -> bool:
    try:
        closed: bool = connection.is_closed()
    except asyncpg.InterfaceError:  # the pool has taken the lost connection back already
        return True
    return closed


class Store:
    """Transactions on one database. Make it with `open_store`, end it with `close`."""

    def __init__(self, database_url: str, pool: asyncpg.Pool) -> None:
        self._url = database_url
        self._pool = pool

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        """A read-write transaction (READ COMMITTED): committed at the end, rolled back on any error.

        Raises `Unavailable` when the database is away, a lock is not to be had, or it asks to retry.
        """
        async with self.reading() as tx, _atomic(tx):
            yield tx

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Tx]:
        """A read-only transaction in which every statement sees the same moment."""
        async with self.reading() as tx, _atomic(tx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield tx

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Tx]:
        """A pooled connection without a transaction: every statement sees the present.

        A single statement may write, too: then no lock is left held by a process that is stopped behind it.
        """
        connection = await call_translated(self._pool.acquire, timeout=_ACQUIRE_SECONDS)
        tx = Tx(connection)
        try:
            yield tx
        finally:
            del tx.connection  # whoever kept the handle must not reach the connection's next user
            await call_translated(self._pool.release, connection)

    async def check(self) -> None:
        """Have the database answer; raises `Unavailable` when it does not."""
        async with self.reading() as tx:
            await tx.value("SELECT 1")

    async def dedicated(self) -> asyncpg.Connection:
        """A connection of its own, outside the pool; the caller closes it (`signals` listens on it)."""
        return await asyncpg.connect(self._url, timeout=_ACQUIRE_SECONDS, server_settings=_SESSION)

    async def close(self) -> None:
        """Let running transactions end, for a few seconds, then close every connection."""
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


async def open_store(database_url: str, pool_size: int) -> Store:
    """Connect to the database, with at most `pool_size` connections; raises `Unavailable` when it is away."""
    async with translate_errors():
        pool = await asyncpg.create_pool(
            database_url,
            min_size=1,
            max_size=pool_size,
            timeout=_ACQUIRE_SECONDS,
            command_timeout=60,
            init=prepare,
            connection_class=_Session,
            server_settings=_SESSION,
        )
    return Store(database_url, pool)
