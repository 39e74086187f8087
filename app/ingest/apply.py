"""One batch, one transaction: from bytes to everything that follows from them."""

from msgspec.structs import replace

from app.domain.facts import SourceChanged
from app.domain.match import Match
from app.ingest import claims, offsets, rival_sources
from app.ingest.batch import Batch
from app.ingest.claims import Judgement
from app.ingest.config import IngestConfig
from app.ingest.run import Run
from app.kit.logging import get_logger
from app.store import log_state, match_sources, matches
from app.store.connections import Store
from app.store.log_state import LogState, PendingRange
from app.store.transaction import Tx

log = get_logger(__name__)


async def apply(store: Store, batch: Batch, now: int, terms: IngestConfig) -> str:
    """Apply a batch, and whatever waited for it; what became of it: applied, repeat, early, refused,
    or overflow where so much waits already that it was left out, as if it had never come.

    Raises `NotFound` for an unknown match, `Unavailable` while the database is away, and whatever a batch
    that makes no sense brings about; in every case nothing is written.
    """
    async with store.transaction() as tx:
        match = await matches.lock(tx, batch.match_id)
        source = await log_state.get(tx, match.id)
        given = offsets.as_pending(batch)
        if offsets.is_repeat(source, batch.id, given):
            return "repeat"
        judged = claims.judge(source.known, batch, terms.takeover_millis)
        if judged.verdict == "refused":
            await rival_sources.refuse(tx, match, batch, judged, now)
            return "refused"
        return await _follow(tx, match, source, batch, judged, now, terms)


async def _follow(
    tx: Tx, match: Match, source: LogState, batch: Batch, judged: Judgement, now: int, terms: IngestConfig
) -> str:
    """Apply a batch of the source that is followed, from now on if not before."""
    given = offsets.as_pending(batch)
    if judged.verdict == "taken_over":
        source = replace(source, instance=batch.instance, next_offset=None, broken=True)
    source = offsets.follow(source, given) if given else source
    senders = match_sources.save_statements(match.id, judged.changed)
    if given is not None and offsets.is_early(source, given):
        await tx.write([log_state.save_statement(source), *senders])
        if not await log_state.may_hold(tx, match.id, given):
            log.warning("too much of a log is held back already", match_id=str(match.id))
            return "overflow"
        await log_state.hold(tx, match.id, given, now)
        return "early"
    run = Run(tx, match, source)
    if judged.verdict == "taken_over":
        log.warning("another log source is followed", match_id=str(match.id), source=judged.sender.source)
        run.facts.append(SourceChanged(at=batch.arrived_at))
    await run.take(given or PendingRange("", 0, 0, batch.body, batch.arrived_at), known=given is not None)
    await run.take_waiting()
    run.source = replace(run.source, last_message=batch.id)
    await run.finish(now, terms, beside=senders)
    return "applied"
