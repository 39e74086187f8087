"""Sessions on PostgreSQL as a process leaves them that stands still in the middle of a statement."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from app.store.connections import Store


@asynccontextmanager
async def stalled(store: Store, *statements: str) -> AsyncIterator[asyncpg.Connection]:
    """A session with a transaction that has run these statements and a part of one more: the text of a
    statement was sent, its arguments were not."""
    connection = await store.dedicated()
    try:
        await connection.execute("BEGIN")
        for statement in statements:
            await connection.execute(statement)
        await connection.prepare("SELECT $1::int")
        yield connection
    finally:
        connection.terminate()
