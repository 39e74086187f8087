"""A plain AMQP connection that is always closed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aio_pika.abc import AbstractConnection
from aio_pika.connection import Connection, make_url

from app.broker import integers

integers.use_signed_integers()


@asynccontextmanager
async def open_connection(url: str, seconds: float) -> AsyncIterator[AbstractConnection]:
    """Connect to the vhost of `url` within `seconds`; closed at the end, whether or not the login succeeds.

    The client's own `connect` does not close a connection whose login was refused: that one is closed when it
    is garbage-collected, at any moment and in any thread. Raises `AMQPError`, `OSError` or `TimeoutError`.
    """
    connection: AbstractConnection = Connection(make_url(url))
    try:
        await connection.connect(timeout=seconds)
        yield connection
    finally:
        await connection.close()
