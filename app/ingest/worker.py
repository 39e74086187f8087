"""The ingest worker: consumes the internal queues, runs the checks that no line triggers, and imports files
of reference data. At the end, the
health checks of ingest: its queues, its workers, and whether they could apply everything.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from uuid import uuid4

from app.ingest import consumer, lost_lines, match_checks
from app.ingest.consumer import PartitionAssignment
from app.ingest.log_update import IngestConfig
from app.ingest.queues import IngestQueues
from app.ingest.reference_files import ReferenceFolder
from app.kit.background import run_forever, wait_for_event
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import heartbeats, log_state
from app.store.connections import Store
from app.store.server_state import end_stalled_regularly

log = get_logger(__name__)
_TICK_SECONDS = 1.0
_DEAD_MILLIS = 5000  #: after so long without a heartbeat a worker is assigned no queues


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
            group.create_task(match_checks.reprice_regularly(store, config, stopping, clock))
            ending = run_forever("ending stalled sessions", partial(end_stalled_regularly, store))
            background = [group.create_task(ending)]
            if config.reference_directory:
                folder = ReferenceFolder(store, Path(config.reference_directory), config.pricing, clock)
                watching = run_forever("watching reference data", partial(folder.watch, stopping))
                background.append(group.create_task(watching))
            while not stopping.is_set():
                await tick(store, assignment, clock(), config, queues.empty)
                await wait_for_event(stopping, _TICK_SECONDS)
            for task in background:
                task.cancel()
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
            lowest = await heartbeats.lowest_compatibility(tx)
        await lost_lines.skip_missing(store, now, config)
        await match_checks.suspend_silent(store, now, config)
        await match_checks.resume_after_ingest_outage(store, now, config, queues_empty)
        await match_checks.note_silence(store, now, config)
        await match_checks.forget_rivals(store, now, config)
        await match_checks.refresh_ratings(store, now, config)
        await match_checks.follow_references(store, now, config)
        if lowest == heartbeats.COMPATIBILITY_LEVEL:
            await match_checks.offer_head_to_heads(store, now, config)
    except Unavailable as error:
        log.warning("the database is unavailable", error=error.detail)


OK = "ok"


async def queues_respond(queues: IngestQueues) -> str:
    return OK if await queues.healthy() else "the broker of the internal queues does not answer"


async def worker_beats(store: Store, clock: Clock, dead_seconds: int) -> str:
    """Whether an ingest worker has sent a heartbeat within `dead_seconds`."""
    async with store.autocommit() as tx:
        newest = await heartbeats.latest(tx, heartbeats.INGEST)
    alive = clock() - newest < dead_seconds * 1000
    return OK if alive else f"no ingest worker has been alive for {dead_seconds} s"


async def nothing_parked(store: Store) -> str:
    """Whether every log batch could be applied."""
    async with store.autocommit() as tx:
        count = await log_state.parked_count(tx)
    return f"{count} log batches could not be applied" if count else OK
