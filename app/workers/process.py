"""What background processes share: the signals that end them in good order, and their store."""

import asyncio
import signal

from app.kit.background import retry_while_unavailable
from app.operations.restoration.failover import DatabaseFailover
from app.settings import Settings
from app.store.connections import Store, open_store


def stop_on_signals() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


async def open_worker_store(settings: Settings, cached_matches: int = 0) -> Store:
    """The store, once the database answers."""
    url, size = settings.database_url, settings.database_pool_size
    return await retry_while_unavailable(
        "opening the database", lambda: open_store(url, size, cached_matches, failover=DatabaseFailover())
    )
