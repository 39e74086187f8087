"""Batches that cannot be applied: stored for an operator, with an alert. Their matches continue without."""

from uuid import UUID

from msgspec.structs import replace

from app.ingest import offsets
from app.ingest.batch import Batch
from app.ingest.log_update import GAP
from app.ingest.suspension import suspend_for_loss
from app.store import alerts, log_state, matches
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.log_state import ParkedBatch
from app.store.transaction import Tx

_MAX_ERROR = 300  #: characters of an error in an alert


async def park(store: Store, batch: Batch, error: str, now: int) -> None:
    """Park a batch that cannot be applied, and suspend its match until the next round begins."""
    async with store.transaction() as tx:
        await log_state.park(
            tx,
            ParkedBatch(
                batch.id,
                batch.match_id,
                batch.instance,
                batch.begin,
                batch.end,
                batch.body,
                batch.arrived_at,
                now,
                error,
            ),
        )
        match = await matches.lock(tx, batch.match_id)
        await _skip(tx, match.id, batch)
        await suspend_for_loss(tx, match, GAP, now)
        detail = f"batch {batch.id} could not be applied: {error[:_MAX_ERROR]}"
        await alerts.begin(tx, AlertSubject(AlertKind.PARKED_BATCH, match_id=match.id), detail, now)


async def _skip(tx: Tx, match_id: UUID, batch: Batch) -> None:
    """Continue after the batch as if it had been parsed."""
    state = await log_state.get(tx, match_id)
    log_range = offsets.range_of(batch)
    if log_range is not None:
        state, _ = offsets.advance(state, log_range)
    await tx.write([log_state.save_statement(replace(state, has_gap=True, last_message_id=batch.id))])
