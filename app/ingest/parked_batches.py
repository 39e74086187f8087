"""Batches that cannot be applied: stored for an operator, with an alert. Their matches continue without."""

from uuid import UUID

from msgspec.structs import replace

from app.domain.doubts import LOG_GAP
from app.ingest import batches, source_selection
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig
from app.ingest.lost_lines import suspend_for_loss
from app.store import alerts, log_state, matches
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.log_state import LogRange, LogState, ParkedBatch
from app.store.transaction import Tx

_MAX_ERROR = 300  #: characters of an error in an alert


async def park(store: Store, batch: Batch, error: str, now: int, config: IngestConfig) -> None:
    """Park a batch that cannot be applied. If its sender is followed, its match continues after it and is
    suspended until the next round begins."""
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
        state = await log_state.get(tx, match.id)
        decision = source_selection.decide(state.known, batch, config.takeover_millis)
        # The lines of a refused sender are not missing. One that would take over does with its next batch,
        # wherever that begins.
        if decision.verdict in ("followed", "next_run"):
            await _skip(tx, replace(state, last_message_id=batch.id), batches.range_of(batch))
            await tx.write(log_state.save_senders(match.id, decision.changed, decision.forgotten))
            await suspend_for_loss(tx, match, LOG_GAP, now)
        await _begin_alert(tx, match.id, batch.id, error, now)


async def park_pending(store: Store, match_id: UUID, pending: LogRange, error: str, now: int) -> None:
    """Park a pending range, as `park` does with a batch; nothing if it is pending no more."""
    name = f"{match_id} {pending.instance} {pending.begin}-{pending.end}"
    place = (pending.instance, pending.begin, pending.end)
    async with store.transaction() as tx:
        match = await matches.lock(tx, match_id)
        if pending not in await log_state.pending(tx, match.id):
            return
        await log_state.park(
            tx, ParkedBatch(name, match.id, *place, pending.body, pending.arrived_at, now, error)
        )
        await log_state.delete_pending(tx, match.id, pending)
        await _skip(tx, await log_state.get(tx, match.id), pending)
        await suspend_for_loss(tx, match, LOG_GAP, now)
        await _begin_alert(tx, match.id, name, error, now)


async def _skip(tx: Tx, state: LogState, log_range: LogRange | None) -> None:
    """Continue after the range as if it had been parsed."""
    if log_range is not None:
        state, _ = batches.advance(state, log_range)
    await tx.write([log_state.save_statement(replace(state, has_gap=True))])


async def _begin_alert(tx: Tx, match_id: UUID, name: str, error: str, now: int) -> None:
    detail = f"batch {name} could not be applied: {error[:_MAX_ERROR]}"
    await alerts.begin(tx, AlertSubject(AlertKind.PARKED_BATCH, match_id=match_id), detail, now)
