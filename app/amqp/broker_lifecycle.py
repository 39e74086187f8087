"""FastStream's brokers, begun and ended so that none stays behind.

Their connections come back by themselves, for ever, until they are closed: one that is given up while it is
being made, or whose goodbye is not answered, would go on knocking long after its tenant is another's.
"""

import asyncio
from typing import Any

from aio_pika.exceptions import AMQPError
from faststream.exceptions import FastStreamException
from faststream.rabbit import RabbitBroker

from app.broker.connection import open_connection
from app.kit.logging import get_logger

FAILURES = (AMQPError, FastStreamException, OSError, TimeoutError, RuntimeError)
_KNOCK_SECONDS, _GOODBYE_SECONDS = 10.0, 2.0
_leaving: set[asyncio.Task[Any]] = set()
log = get_logger(__name__)


async def begin(broker: RabbitBroker, url: str) -> None:
    """Connect to where `url` says; raises one of FAILURES. Cancelled meanwhile, it ends the connection once
    that stands."""
    connecting: asyncio.Task[Any] = asyncio.create_task(_enter(broker, url))
    try:
        await asyncio.shield(connecting)
    except asyncio.CancelledError:
        _keep(asyncio.create_task(_leave(broker, connecting)))
        raise


async def end(broker: RabbitBroker) -> None:
    """Close; a goodbye that is not answered soon goes on beside us."""
    leaving = asyncio.create_task(_leave(broker))
    _keep(leaving)
    await asyncio.wait({leaving}, timeout=_GOODBYE_SECONDS)


async def _enter(broker: RabbitBroker, url: str) -> Any:
    """Knocks first: FastStream keeps no hold of a connection whose first attempt fails, so none could be
    closed."""
    async with open_connection(url, _KNOCK_SECONDS):
        pass
    return await broker.connect()


async def _leave(broker: RabbitBroker, connecting: "asyncio.Task[Any] | None" = None) -> None:
    try:
        # Asked again, a broker that is connected answers its connection; closing that is what ends it.
        connection = await (connecting or broker.connect())
        await connection.close()
        await broker.stop()
    except FAILURES as error:
        log.info("a connection ended roughly", error=repr(error))


def _keep(task: asyncio.Task[Any]) -> None:
    """The loop itself holds tasks weakly."""
    _leaving.add(task)
    task.add_done_callback(_leaving.discard)
