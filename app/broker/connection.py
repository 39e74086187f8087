"""A plain AMQP connection that is always closed, what connections raise, and the integers in AMQP headers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aio_pika.abc import AbstractConnection
from aio_pika.connection import Connection, make_url
from aio_pika.exceptions import AMQPError
from pamqp import encode

from app.kit.background import leave, run_isolated
from app.kit.logging import get_logger, redact


def use_signed_integers() -> None:
    """Make this process encode integers with signed types only: `b`, `s`, `I` and `l` by size.

    By default `pamqp` (used here and by FastStream) encodes 32768..65535 as `u` and 2^31..2^32-1 as `i`,
    which many clients cannot read: some close their connection. Its switch for old brokers, which have no
    unsigned types either, is process-wide.
    """
    encode.support_deprecated_rabbitmq()


use_signed_integers()
#: What the client raises while the broker is unavailable; "closed" is a `RuntimeError`.
FAILURES = (AMQPError, OSError, TimeoutError, RuntimeError)
_CLOSE_SECONDS = 5.0
log = get_logger(__name__)


@asynccontextmanager
async def open_connection(url: str, seconds: float) -> AsyncIterator[AbstractConnection]:
    """Connect to the vhost of `url` within `seconds`; closed at the end, whether or not the login succeeds.

    The client's own `connect` does not close a connection whose login was refused: that one is closed when it
    is garbage-collected, at any moment and in any thread. Raises `AMQPError`, `OSError` or `TimeoutError`.
    """
    connection: AbstractConnection = Connection(make_url(url))
    try:
        await run_isolated(connection.connect(), seconds)
        yield connection
    finally:
        # To a host that was cut off it takes until TCP gives up, up to a quarter of an hour.
        closing = asyncio.create_task(connection.close())
        leave(closing)
        await asyncio.wait({closing}, timeout=_CLOSE_SECONDS)


async def reachable(urls: Sequence[str], seconds: float) -> str:
    """The first of `urls`, which differ by the broker's node, whose vhost can be connected to; each is tried
    for `seconds`. Raises why the last one could not be connected to.

    Before FastStream connects: it does not retain a connection whose first attempt fails, which then stays in
    the process, reconnecting, and cannot be closed.
    """
    for number, url in enumerate(urls, 1):
        try:
            async with open_connection(url, seconds):
                return url
        except FAILURES as error:
            if number == len(urls):
                raise
            log.warning("a node of the broker cannot be connected to", error=repr(error), node=redact(url))
    raise ValueError("no address of the broker")
