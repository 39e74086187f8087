"""Health checks of ingest: its queues, its workers, and whether they could apply everything."""

from app.ingest.queues import IngestQueues
from app.kit.clock import Clock
from app.store import heartbeats, log_state
from app.store.connections import Store

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
