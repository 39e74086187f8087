"""Lines that have not come in time, and lines that cannot be applied: their match continues without them.

Missing byte ranges are skipped: parsing continues after them. What cannot be applied is parked: stored for an
operator, with an alert. After a failure each pending range is applied in a transaction of its own, so that
only those are parked that cannot be applied.
"""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from msgspec.structs import replace

from app.commands import match_update
from app.domain.doubts import LOG_GAP
from app.domain.facts import DataLost
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import batches, source_selection
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig, LogUpdate
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import alerts, log_state, matches
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.log_state import LogRange, LogState, ParkedBatch
from app.store.transaction import Tx

ATTEMPTS = 5  #: so often a failing batch is tried before it counts as at fault
RETRY_SECONDS = 0.1
_MAX_ERROR = 300  #: characters of an error in an alert
log = get_logger(__name__)


async def skip_missing(store: Store, now: int, config: IngestConfig) -> int:
    """Continue after missing ranges that have not come in time; how many matches."""
    async with store.autocommit() as tx:
        overdue = await log_state.overdue(tx, now - config.gap_millis)

    closed = set()

    async def close(tx: Tx, match: Match) -> None:
        await _close_gap(tx, match, now, config)
        closed.add(match.id)

    done = await match_update.for_each_match(store, overdue, close)
    failed = [match_id for match_id in overdue if match_id not in closed]
    return done + await _close_apart(store, failed, now, config)


async def _close_apart(store: Store, failed: Sequence[UUID], now: int, config: IngestConfig) -> int:
    """Close gaps before ranges of which some cannot be applied: these are parked, the others applied."""

    async def close(tx: Tx, match: Match) -> None:
        await _close_gap(tx, match, now, config, with_pending=False)

    done = await match_update.for_each_match(store, failed, close)
    for match_id in failed:
        try:
            await apply_pending(store, match_id, now, config)
        except Unavailable:
            raise
        except Exception:
            log.exception("pending log ranges cannot be applied", match_id=str(match_id))
    return done


async def _close_gap(
    tx: Tx, match: Match, now: int, config: IngestConfig, *, with_pending: bool = True
) -> None:
    state = await log_state.get(tx, match.id)
    waiting = await log_state.pending(tx, match.id)
    begun, first = batches.begun_line(state, waiting), batches.first_pending(state, waiting)
    if begun is not None and first is not None:  # its rest is among the missing bytes
        await log_state.delete_pending(tx, match.id, begun)
    if first is None or not batches.is_early(state, first):
        update = LogUpdate(tx, match, state)
        if begun is not None and first is None:
            await update.end_line(begun)
    elif state.next_offset == 0 and match.map is None:
        # Before play nothing depends on the lines that a server wrote before it sent us its log.
        update = LogUpdate(tx, match, replace(state, next_offset=first.begin))
    else:
        missing = (state.next_offset, first.begin)
        log.warning("log bytes are missing", match_id=str(match.id), missing=missing)
        update = LogUpdate(tx, match, replace(state, has_gap=True, next_offset=first.begin))
        update.own.append(DataLost(at=first.arrived_at, reason=LOG_GAP))
    await (update.add_pending() if with_pending else update.drop_obsolete())
    await update.finish(now, config)


async def apply_pending(store: Store, match_id: UUID, now: int, config: IngestConfig) -> None:
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
                await park_pending(store, match_id, pending, repr(error), now)
            else:
                await asyncio.sleep(RETRY_SECONDS)


async def _next(store: Store, match_id: UUID) -> LogRange | None:
    async with store.autocommit() as tx:
        state = await log_state.get(tx, match_id)
        return (
            batches.next_pending(state, await log_state.pending(tx, match_id)) if state.has_pending else None
        )


async def _apply(store: Store, match_id: UUID, pending: LogRange, now: int, config: IngestConfig) -> None:
    """Apply the range if it is still the next one: another process may have changed that meanwhile."""
    async with store.transaction() as tx:
        match = await matches.lock(tx, match_id)
        state = await log_state.get(tx, match.id)
        if batches.next_pending(state, await log_state.pending(tx, match.id)) != pending:
            return
        update = LogUpdate(tx, match, state)
        await update.add_one_pending(pending)
        await update.finish(now, config)


async def is_database_healthy(store: Store) -> bool:
    """Whether a failure just now is the data's, not the database's."""
    try:
        await store.check()
    except Unavailable:
        return False
    return True


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
            await suspend_for_loss(tx, match, now)
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
        await suspend_for_loss(tx, match, now)
        await _begin_alert(tx, match.id, name, error, now)


async def _skip(tx: Tx, state: LogState, log_range: LogRange | None) -> None:
    """Continue after the range as if it had been parsed."""
    if log_range is not None:
        state, _ = batches.advance(state, log_range)
    await tx.write([log_state.save_statement(replace(state, has_gap=True))])


async def _begin_alert(tx: Tx, match_id: UUID, name: str, error: str, now: int) -> None:
    detail = f"batch {name} could not be applied: {error[:_MAX_ERROR]}"
    await alerts.begin(tx, AlertSubject(AlertKind.PARKED_BATCH, match_id=match_id), detail, now)


async def suspend_for_loss(tx: Tx, match: Match, now: int) -> None:
    """Suspend a match of which lines of the present round are lost."""
    after, changes = fold(match, [DataLost(at=now, reason=LOG_GAP)])
    await match_update.suspend_and_write(tx, match, after, changes, reason=LOG_GAP, now=now)
    log.warning("suspended", match_id=str(match.id), reason=LOG_GAP)
