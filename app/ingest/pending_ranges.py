"""Pending ranges after a failure: each is applied in a transaction of its own, so that only those are parked
that cannot be applied."""

import asyncio
from uuid import UUID

from app.ingest import offsets, parked_batches
from app.ingest.attempts import ATTEMPTS, RETRY_SECONDS, is_database_healthy
from app.ingest.config import IngestConfig
from app.ingest.log_update import LogUpdate
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import log_state, matches
from app.store.connections import Store
from app.store.log_state import LogRange

log = get_logger(__name__)


async def apply_each(store: Store, match_id: UUID, now: int, config: IngestConfig) -> None:
    """Apply the pending ranges of a match that are next, or park those that fail repeatedly although the
    database is healthy. Raises `Unavailable` while it is not."""
    failing, failures = None, 0
    while (pending := await _next(store, match_id)) is not None:
        try:
            await _apply(store, match_id, pending, now, config)
        except Unavailable:
            raise
        except Exception as error:
            failures = failures if pending == failing else 0
            failing = pending
            failures += await is_database_healthy(store)
            log.exception("a pending log range cannot be applied", match_id=str(match_id), failures=failures)
            if failures == ATTEMPTS:
                await parked_batches.park_pending(store, match_id, pending, repr(error), now)
            else:
                await asyncio.sleep(RETRY_SECONDS)


async def _next(store: Store, match_id: UUID) -> LogRange | None:
    async with store.autocommit() as tx:
        state = await log_state.get(tx, match_id)
        return (
            offsets.next_pending(state, await log_state.pending(tx, match_id)) if state.has_pending else None
        )


async def _apply(store: Store, match_id: UUID, pending: LogRange, now: int, config: IngestConfig) -> None:
    """Apply the range if it is still the next one: another process may have changed that meanwhile."""
    async with store.transaction() as tx:
        match = await matches.lock(tx, match_id)
        state = await log_state.get(tx, match.id)
        if offsets.next_pending(state, await log_state.pending(tx, match.id)) != pending:
            return
        update = LogUpdate(tx, match, state)
        await update.add_one_pending(pending)
        await update.finish(now, config)
