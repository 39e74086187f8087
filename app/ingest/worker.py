"""The ingest worker: consumes the internal queues and runs the checks that no line triggers."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from uuid import uuid4

from app.ingest import consumer, missing_ranges, rating_refresh, repricing, rival_sources, suspension
from app.ingest.config import IngestConfig
from app.ingest.partition_assignment import PartitionAssignment
from app.ingest.queues import IngestQueues
from app.kit.background import run_forever
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import heartbeats
from app.store.connections import Store
from app.store.stalled_sessions import end_stalled_regularly

_TICK_SECONDS = 1.0
_REPRICE_SECONDS = 0.25
_DEAD_MILLIS = 5000  #: after so long without a heartbeat a worker is assigned no queues
log = get_logger(__name__)


async def run(
    store: Store,
    queues: IngestQueues,
    config: IngestConfig,
    stopping: asyncio.Event,
    clock: Clock = system_clock,
) -> None:
    """Work until `stopping` is set; batches being applied are finished, the rest stays queued."""
    assignment = PartitionAssignment(f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}")
    consumer.subscribe(queues, consumer.Consumer(store, config, clock).handle, assignment)
    async with queues:
        log.info("ingest worker started", worker=assignment.name)
        async with asyncio.TaskGroup() as group:
            group.create_task(_reprice_regularly(store, config, stopping, clock))
            ending = run_forever("ending stalled sessions", partial(end_stalled_regularly, store))
            background = group.create_task(ending)
            while not stopping.is_set():
                await tick(store, assignment, clock(), config, queues.empty)
                await _until(stopping, _TICK_SECONDS)
            background.cancel()
    log.info("ingest worker ended", worker=assignment.name)


async def tick(
    store: Store,
    assignment: PartitionAssignment,
    now: int,
    config: IngestConfig,
    queues_empty: Callable[[], Awaitable[bool]],
) -> None:
    """One heartbeat and all checks at `now`; skipped while the database is unavailable."""
    try:
        async with store.transaction() as tx:
            await heartbeats.record(tx, assignment.name, heartbeats.INGEST, now)
            assignment.rebalance(await heartbeats.alive_since(tx, heartbeats.INGEST, now - _DEAD_MILLIS))
        await missing_ranges.skip_missing(store, now, config)
        await suspension.suspend_silent(store, now, config)
        await suspension.resume_after_ingest_outage(store, now, config, queues_empty)
        await rival_sources.note_silence(store, now, config)
        await rival_sources.forget_rivals(store, now, config)
        await rating_refresh.refresh(store, now, config)
    except Unavailable as error:
        log.warning("the database is unavailable", error=error.detail)


async def _reprice_regularly(
    store: Store, config: IngestConfig, stopping: asyncio.Event, clock: Clock
) -> None:
    while not stopping.is_set():
        try:
            await repricing.reprice_due(store, clock, config)
        except Unavailable as error:
            log.warning("prices wait for the database", error=error.detail)
        await _until(stopping, _REPRICE_SECONDS)


async def _until(stopping: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        return
