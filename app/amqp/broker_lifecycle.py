"""Connecting and closing FastStream's brokers, so that no connection is leaked.

A connection of theirs reconnects for ever until it is closed: one that is abandoned while it is being
established, or whose close is not answered, would keep reconnecting long after its tenant has another holder.
"""

import asyncio
from typing import Any

from faststream.exceptions import FastStreamException
from faststream.rabbit import RabbitBroker

from app.broker import connection as amqp_connection
from app.kit.logging import get_logger

FAILURES = (*amqp_connection.FAILURES, FastStreamException)
_PROBE_SECONDS, _CLOSE_SECONDS = 10.0, 2.0
_closing: set[asyncio.Task[Any]] = set()
log = get_logger(__name__)


async def connect(broker: RabbitBroker, url: str) -> None:
    """Connect to `url`; raises one of FAILURES. If this is cancelled, the connection is closed once it is
    established."""
    connecting: asyncio.Task[Any] = asyncio.create_task(_connect(broker, url))
    try:
        await asyncio.shield(connecting)
    except asyncio.CancelledError:
        _retain(asyncio.create_task(_close(broker, connecting)))
        raise


async def close(broker: RabbitBroker) -> None:
    """Close; a close that is not answered soon continues in the background."""
    closing = asyncio.create_task(_close(broker))
    _retain(closing)
    await asyncio.wait({closing}, timeout=_CLOSE_SECONDS)


async def _connect(broker: RabbitBroker, url: str) -> Any:
    await amqp_connection.probe(url, _PROBE_SECONDS)
    return await broker.connect()


async def _close(broker: RabbitBroker, connecting: "asyncio.Task[Any] | None" = None) -> None:
    try:
        # `connect` of a connected broker returns its connection; closing that is what ends it.
        connection = await (connecting or broker.connect())
        await connection.close()
        await broker.stop()
    except FAILURES as error:
        log.info("closing a broker connection failed", error=repr(error))


def _retain(task: asyncio.Task[Any]) -> None:
    """The event loop itself has weak references to tasks only."""
    _closing.add(task)
    task.add_done_callback(_closing.discard)
