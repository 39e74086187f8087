"""The transaction that applies one log batch."""

from msgspec.structs import replace

from app.domain.facts import SourceChanged
from app.domain.match import Match
from app.ingest import batches, match_checks, source_selection
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig, LogUpdate
from app.ingest.source_selection import SourceDecision
from app.kit.logging import get_logger
from app.store import log_state, matches
from app.store.connections import Store
from app.store.log_state import LogRange, LogState
from app.store.transaction import Tx

log = get_logger(__name__)


async def apply(
    store: Store, batch: Batch, now: int, config: IngestConfig, *, with_pending: bool = True
) -> str:
    """Apply a batch and, `with_pending`, the batches that waited for it.

    Returns the outcome: applied, repeat, early (it waits for missing bytes), refused (its sender is not
    followed), or overflow (too many bytes wait already; it is dropped).

    Raises `NotFound` for an unknown match, `Unavailable` while the database is unavailable, and any error
    that a malformed batch causes; nothing is written then.
    """
    async with store.transaction() as tx:
        match = await matches.lock(tx, batch.match_id)
        state = await log_state.get(tx, match.id)
        log_range = batches.range_of(batch)
        if batches.is_repeat(state, batch.id, log_range):
            return "repeat"
        decision = source_selection.decide(state.known, batch, config.takeover_millis)
        if decision.verdict == "refused":
            await match_checks.refuse(tx, match, batch, decision, now)
            return "refused"
        return await _follow(tx, match, state, batch, decision, now, config, with_pending=with_pending)


async def _follow(
    tx: Tx,
    match: Match,
    state: LogState,
    batch: Batch,
    decision: SourceDecision,
    now: int,
    config: IngestConfig,
    *,
    with_pending: bool,
) -> str:
    """Apply a batch whose sender is followed, perhaps from this batch on."""
    log_range = batches.range_of(batch)
    if decision.verdict == "taken_over":
        state = replace(state.of_another_run(batch.instance, None), has_gap=True)
    another_log = log_range is not None and batches.begins_another_log(state, log_range)
    if another_log:
        state = batches.forget_log(state)
    state = batches.await_start_of_run(state, log_range) if log_range else state
    if log_range is not None and batches.is_early(state, log_range):
        senders = log_state.save_senders(match.id, decision.changed, decision.forgotten)
        await tx.write([log_state.save_statement(state), *senders])
        if not await log_state.has_room_for(tx, match.id, log_range):
            log.warning("log batch dropped: too many bytes wait already", match_id=str(match.id))
            return "overflow"
        await log_state.save_pending(tx, match.id, log_range, now)
        return "early"
    update = LogUpdate(tx, match, state, decision)
    if another_log:
        log.warning("the followed sender begins another log at byte 0", match_id=str(match.id))
        await update.drop_pending()
    if decision.verdict == "taken_over":
        log.warning(
            "another log source is followed now", match_id=str(match.id), source=decision.sender.source
        )
        update.facts.append(SourceChanged(at=batch.arrived_at))
    whole = LogRange("", 0, 0, batch.body, batch.arrived_at)
    await update.add(log_range or whole, has_offsets=log_range is not None)
    await (update.add_pending() if with_pending else update.drop_obsolete())
    update.state = replace(update.state, last_message_id=batch.id)
    await update.finish(now, config)
    return "applied"
