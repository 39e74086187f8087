"""Suspensions that no log line causes: silent sources, missing bytes, parked batches, no worker alive."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from uuid import UUID

from msgspec.structs import replace

from app.commands import match_update
from app.domain.changes import Change, MatchChanged
from app.domain.doubts import PROCESSING_STOPPED, SERVER_SILENT, SILENT, raise_doubt
from app.domain.facts import SourceLost, SourceRestored, SourceResumed
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import offsets, rival_sources, silence
from app.ingest.batch import Batch
from app.ingest.config import IngestConfig
from app.ingest.log_update import GAP, LogUpdate
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import alerts, log_state, markets, match_sources, matches
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.log_state import ParkedBatch
from app.store.transaction import Tx

_MAX_ERROR = 300  #: characters of an error in an alert
log = get_logger(__name__)


async def suspend_silent(store: Store, now: int, config: IngestConfig) -> int:
    """Suspend live matches with open markets whose source is silent for longer than usual; how many."""
    async with store.autocommit() as tx:
        quiet = await matches.quiet(tx, now - silence.shortest(config))
    silent = [match.id for match in quiet if silence.is_silent(match, now, config)]

    async def suspend(tx: Tx, match: Match) -> None:
        if silence.is_silent(match, now, config):
            await _suspend_for_doubt(tx, match, SERVER_SILENT, now)

    return await _each(store, silent, suspend)


async def suspend_everything(store: Store, now: int) -> int:
    """Suspend every open market of every match; how many matches had one.

    The feed process calls it when no ingest worker is alive. A worker that returns lifts it: before play at
    once (`lift`), in play with the next fresh lines.
    """
    async with store.autocommit() as tx:
        offered = await markets.matches_with_open(tx)

    async def suspend(tx: Tx, match: Match) -> None:
        await _suspend_for_doubt(tx, match, PROCESSING_STOPPED, now)

    return await _each(store, offered, suspend)


async def lift(store: Store, now: int, config: IngestConfig) -> int:
    """Offer matches that have not begun again after `suspend_everything`; how many."""
    async with store.autocommit() as tx:
        waiting = await log_state.suspended_before_play(tx, PROCESSING_STOPPED)

    async def resume(tx: Tx, match: Match) -> None:
        after, changes = fold(match, [SourceRestored(at=now), SourceResumed(at=now)])
        await match_update.react_and_write(
            tx, match, after, changes, now=now, quoting=True, margin=config.margin
        )

    return await _each(store, waiting, resume)


async def forget_rivals(store: Store, now: int, config: IngestConfig) -> int:
    """Lift the suspension of matches whose rival sources have been silent for long; how many."""
    before = now - config.takeover_millis
    async with store.autocommit() as tx:
        waiting = await match_sources.rival_sources_gone(tx, before)

    async def forget(tx: Tx, match: Match) -> None:
        after, changes = await rival_sources.forget_rivals(tx, match, before, now)
        await match_update.react_and_write(
            tx, match, after, changes, now=now, quoting=True, margin=config.margin
        )

    return await _each(store, waiting, forget)


async def close_gaps(store: Store, now: int, config: IngestConfig) -> int:
    """Continue after missing ranges that have not come in time; how many matches."""
    async with store.autocommit() as tx:
        overdue = await log_state.overdue(tx, now - config.gap_millis)

    async def close(tx: Tx, match: Match) -> None:
        await _close_gap(tx, match, now, config)

    return await _each(store, overdue, close)


async def _each(store: Store, ids: Iterable[UUID], act: Callable[[Tx, Match], Awaitable[None]]) -> int:
    """Call `act` for each match, locked, in a transaction of its own; how many succeeded.

    One match that fails must not leave the others open, so only an unavailable database ends this.
    """
    done = 0
    for match_id in ids:
        try:
            async with store.transaction() as tx:
                await act(tx, await matches.lock(tx, match_id))
            done += 1
        except Unavailable:
            raise
        except Exception:
            log.exception("a periodic check of a match failed", match_id=str(match_id))
    return done


async def _close_gap(tx: Tx, match: Match, now: int, config: IngestConfig) -> None:
    state = await log_state.get(tx, match.id)
    first = offsets.first_pending(state, await log_state.pending(tx, match.id))
    if first is None:
        update = LogUpdate(tx, match, state)
    elif state.next_offset == 0 and match.map is None:
        # Before play nothing depends on the lines that a server wrote before it sent us its log.
        update = LogUpdate(tx, match, replace(state, next_offset=first.begin))
    else:
        missing = (state.next_offset, first.begin)
        log.warning("log bytes are missing", match_id=str(match.id), missing=missing)
        update = LogUpdate(tx, match, replace(state, broken=True, next_offset=first.begin))
        update.facts.append(SourceLost(at=first.arrived_at, reason=GAP))
    await update.add_pending()
    await update.finish(now, config)


async def park_batch(store: Store, batch: Batch, error: str, now: int) -> None:
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
        await _suspend_for_loss(tx, match, GAP, now)
        detail = f"batch {batch.id} could not be applied: {error[:_MAX_ERROR]}"
        await alerts.begin(tx, AlertSubject(AlertKind.PARKED_BATCH, match_id=match.id), detail, now)


async def _skip(tx: Tx, match_id: UUID, batch: Batch) -> None:
    """Continue after the batch as if it had been parsed."""
    state = await log_state.get(tx, match_id)
    chunk = offsets.chunk_of(batch)
    if chunk is not None:
        state, _ = offsets.advance(state, chunk)
    await tx.write([log_state.save_statement(replace(state, broken=True, last_message=batch.id))])


async def _suspend_for_doubt(tx: Tx, match: Match, reason: str, now: int) -> None:
    """Suspend a match of which nothing is lost so far: the missing lines may still come."""
    if match.over:
        return
    after = raise_doubt(match, SILENT, reason)
    await _suspend(tx, match, after, (MatchChanged(),), reason, now)


async def _suspend_for_loss(tx: Tx, match: Match, reason: str, now: int) -> None:
    """Suspend a match of which lines of the present round are lost."""
    after, changes = fold(match, [SourceLost(at=now, reason=reason)])
    await _suspend(tx, match, after, changes, reason, now)


async def _suspend(
    tx: Tx, match: Match, after: Match, changes: Sequence[Change], reason: str, now: int
) -> None:
    await match_update.suspend_and_write(tx, match, after, changes, reason=reason, now=now)
    log.warning("suspended", match_id=str(match.id), reason=reason)
