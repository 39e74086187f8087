"""A connection of the plain client that leaves nothing behind."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aio_pika.abc import AbstractConnection
from aio_pika.connection import Connection, make_url

from app.broker import integers

integers.signed_only()


@asynccontextmanager
async def connected(url: str, seconds: float) -> AsyncIterator[AbstractConnection]:
    """Into the vhost that `url` names, within so long; closed at the end, let in or not.

    The client's own `connect` never closes what was not let in: that one says goodbye when it is collected,
    at some odd moment, in whatever thread. Raises `AMQPError`, `OSError` or `TimeoutError`.
    """
    connection: AbstractConnection = Connection(make_url(url))
    try:
        await connection.connect(timeout=seconds)
        yield connection
    finally:
        await connection.close()
