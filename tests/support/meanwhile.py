"""Work beside a block of a test, and the end of a connection that the broker is to close."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from aio_pika.abc import AbstractConnection


@asynccontextmanager
async def meanwhile(*work: Coroutine[Any, Any, object]) -> AsyncIterator[list[asyncio.Task[Any]]]:
    """Run this beside the block, which ends it; the tasks that run it."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def ended(connection: AbstractConnection) -> asyncio.Event:
    """Set once the connection is closed, from now on."""
    over = asyncio.Event()
    connection.close_callbacks.add(lambda *_: over.set())
    return over
