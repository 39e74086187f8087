"""A plain AMQP connection that is always closed, and what connections raise."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aio_pika.abc import AbstractConnection
from aio_pika.connection import Connection, make_url
from aio_pika.exceptions import AMQPError

from app.broker import integers

integers.use_signed_integers()
#: What the client raises while the broker is unavailable; "closed" is a `RuntimeError`.
FAILURES = (AMQPError, OSError, TimeoutError, RuntimeError)


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


async def probe(url: str, seconds: float) -> None:
    """Raise the reason if the vhost of `url` cannot be connected to within `seconds`.

    Before FastStream connects: it does not retain a connection whose first attempt fails, which then stays in
    the process, reconnecting, and cannot be closed.
    """
    async with open_connection(url, seconds):
        pass
