"""The ingest worker: consumes the internal queues and, each second, looks after what no line tells."""

import asyncio
import os
import socket
from uuid import uuid4

from app.ingest import consumer, watch
from app.ingest.config import IngestConfig
from app.ingest.queues import Queues
from app.ingest.share import Share
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import heartbeats
from app.store.connections import Store

_TICK_SECONDS = 1.0
_GONE_MILLIS = 5000  #: without a beat for so long a worker has no queues dealt out to it
log = get_logger(__name__)


async def run(
    store: Store, queues: Queues, terms: IngestConfig, stopping: asyncio.Event, clock: Clock = system_clock
) -> None:
    """Work until `stopping` is set; batches in hand are finished, the rest stays queued."""
    share = Share(f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}")
    consumer.subscribe(queues, consumer.Consumer(store, terms, clock).handle, share)
    async with queues:
        log.info("ingest works", worker=share.name)
        while not stopping.is_set():
            await tick(store, share, clock(), terms)
            await _until(stopping, _TICK_SECONDS)
    log.info("ingest has ended", worker=share.name)


async def tick(store: Store, share: Share, now: int, terms: IngestConfig) -> None:
    """One beat, and everything that is due at `now`; a database that is away is waited for."""
    try:
        async with store.transaction() as tx:
            await heartbeats.record(tx, share.name, heartbeats.INGEST, now)
            share.heed(await heartbeats.alive_since(tx, heartbeats.INGEST, now - _GONE_MILLIS))
        await watch.close_holes(store, now, terms)
        await watch.suspend_silent(store, now, terms)
        await watch.lift(store, now, terms)
        await watch.forget_rivals(store, now, terms)
    except Unavailable as error:
        log.warning("the database is away", error=error.detail)


async def _until(stopping: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        return
