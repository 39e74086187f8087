"""Sessions on PostgreSQL as a process leaves them that stands still in the middle of a statement."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from app.store.connections import Store

_RESULT = "SELECT repeat('x', 1000000) FROM generate_series(1, 30)"  #: more than sockets hold


@asynccontextmanager
async def stalled(store: Store, *statements: str) -> AsyncIterator[asyncpg.Connection]:
    """A session with a transaction that has run these statements and a part of one more: the text of a
    statement was sent, its arguments were not."""
    async with _begun(store, *statements) as connection:
        await connection.prepare("SELECT $1::int")
        yield connection


@asynccontextmanager
async def not_reading(store: Store, *statements: str) -> AsyncIterator[asyncpg.Connection]:
    """A session with a transaction that has run these statements, and one more whose result is not read."""
    async with _begun(store, *statements) as connection:
        connection._transport.pause_reading()
        result = asyncio.create_task(connection.execute(_RESULT))
        yield connection
        connection.terminate()
        await asyncio.wait({result})
        assert result.exception()


@asynccontextmanager
async def _begun(store: Store, *statements: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await store.dedicated()
    try:
        await connection.execute("BEGIN")
        for statement in statements:
            await connection.execute(statement)
        yield connection
    finally:
        connection.terminate()
