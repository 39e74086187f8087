"""The transaction that applies one log batch."""

from msgspec.structs import replace

from app.domain.facts import SourceChanged
from app.domain.match import Match
from app.ingest import offsets, rival_sources, source_selection
from app.ingest.batch import Batch
from app.ingest.config import IngestConfig
from app.ingest.log_update import LogUpdate
from app.ingest.source_selection import SourceDecision
from app.kit.logging import get_logger
from app.store import log_state, match_sources, matches
from app.store.connections import Store
from app.store.log_state import LogState, PendingRange
from app.store.transaction import Tx

log = get_logger(__name__)


async def apply(store: Store, batch: Batch, now: int, config: IngestConfig) -> str:
    """Apply a batch and the batches that waited for it. Returns the outcome: applied, repeat, early (it waits
    for missing bytes), refused (its sender is not followed), or overflow (too many bytes wait already; it is
    dropped).

    Raises `NotFound` for an unknown match, `Unavailable` while the database is unavailable, and any error
    that a malformed batch causes; nothing is written then.
    """
    async with store.transaction() as tx:
        match = await matches.lock(tx, batch.match_id)
        source = await log_state.get(tx, match.id)
        ranged = offsets.as_pending(batch)
        if offsets.is_repeat(source, batch.id, ranged):
            return "repeat"
        decision = source_selection.decide(source.known, batch, config.takeover_millis)
        if decision.verdict == "refused":
            await rival_sources.refuse(tx, match, batch, decision, now)
            return "refused"
        return await _follow(tx, match, source, batch, decision, now, config)


async def _follow(
    tx: Tx,
    match: Match,
    source: LogState,
    batch: Batch,
    decision: SourceDecision,
    now: int,
    config: IngestConfig,
) -> str:
    """Apply a batch whose sender is followed, perhaps from this batch on."""
    ranged = offsets.as_pending(batch)
    if decision.verdict == "taken_over":
        source = replace(source, instance=batch.instance, next_offset=None, broken=True)
    source = offsets.follow(source, ranged) if ranged else source
    senders = match_sources.save_statements(match.id, decision.changed)
    if ranged is not None and offsets.is_early(source, ranged):
        await tx.write([log_state.save_statement(source), *senders])
        if not await log_state.has_room_for(tx, match.id, ranged):
            log.warning("log batch dropped: too many bytes wait already", match_id=str(match.id))
            return "overflow"
        await log_state.save_pending(tx, match.id, ranged, now)
        return "early"
    update = LogUpdate(tx, match, source)
    if decision.verdict == "taken_over":
        log.warning(
            "another log source is followed now", match_id=str(match.id), source=decision.sender.source
        )
        update.facts.append(SourceChanged(at=batch.arrived_at))
    whole = PendingRange("", 0, 0, batch.body, batch.arrived_at)
    await update.add(ranged or whole, ranged=ranged is not None)
    await update.add_pending()
    update.source = replace(update.source, last_message=batch.id)
    await update.finish(now, config, extra_writes=senders)
    return "applied"
