"""The thread for CPU-bound work, while it has something to do."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.kit.heavy_work import run_in_thread


@asynccontextmanager
async def occupied_thread() -> AsyncIterator[None]:
    """Nothing else runs in the thread until the context ends."""
    released = threading.Event()
    occupying = asyncio.create_task(run_in_thread(released.wait))
    await asyncio.sleep(0)
    try:
        yield
    finally:
        released.set()
        await occupying
