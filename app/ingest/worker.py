"""The ingest worker: consumes the internal queues and runs the checks that no line triggers.

- Byte ranges of a log that have not come in time are skipped: parsing continues after them.
- Clock and fuse decide rounds without a line. A reaction says until when its prices may stand, and that is
  stored with the match. Every worker looks for matches that are due. One of them locks a match and prices it
  again; the others skip it, and so does a restarted worker that finds it done.
- Matches before play follow the ratings of their teams, which other matches change.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from uuid import UUID, uuid4

from msgspec.structs import replace

from app.commands import match_entrants, match_update
from app.domain.changes import DetailsChanged
from app.domain.doubts import LOG_GAP
from app.domain.facts import DataLost, EndOverdue
from app.domain.maps import end_due_at
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import batches, consumer, lost_lines, match_checks
from app.ingest.consumer import PartitionAssignment
from app.ingest.log_update import IngestConfig, LogUpdate
from app.ingest.match_checks import for_each_locked, for_each_match
from app.ingest.queues import IngestQueues
from app.kit.background import run_forever
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import heartbeats, log_state, matches, ratings
from app.store.connections import Store
from app.store.server_state import end_stalled_regularly
from app.store.transaction import Tx

_AT_ONCE = 100  #: matches in one tick; the rest waits for the next


async def refresh_ratings(store: Store, now: int, config: IngestConfig) -> int:
    """Rate and price matches before play again whose teams' ratings have changed; how many."""
    async with store.autocommit() as tx:
        ids = await ratings.matches_to_refresh(tx, _AT_ONCE)

    async def follow(tx: Tx, match: Match) -> None:
        after = await match_entrants.with_current_ratings(tx, match, now)
        rated = replace(after, ratings_version=match.ratings_version)
        changes = () if rated == match else (DetailsChanged(),)
        await match_update.react_and_write(
            tx, match, after, changes, now=now, may_price=not after.applied_late, pricing=config.pricing
        )

    return await for_each_match(store, ids, follow)


async def reprice_due(store: Store, clock: Clock, config: IngestConfig) -> int:
    """Price the matches again that are due; how many. Each is priced as of its turn: where many are due, time
    has passed since the first.

    A map ends that the rules have decided and of which the log has reported no end in time. A match whose
    source is silent, or whose newest facts came late, is left to the suspension of such matches: it opens
    nothing and moves no price.
    """
    async with store.autocommit() as tx:
        due = await matches.due(tx, clock())

    async def lock(tx: Tx, match_id: UUID) -> Match | None:
        return await matches.lock_due(tx, match_id, clock())

    async def reprice(tx: Tx, match: Match) -> None:
        now = clock()
        due_at = end_due_at(match)
        if due_at is not None and due_at <= now:
            await _end_map(tx, match, now, config)
        elif match.applied_late or match_checks.is_silent(match, now, config):
            await matches.set_reprice_at(tx, match.id, None)
        else:
            await match_update.reprice_and_write(tx, match, now=now, pricing=config.pricing)

    return await for_each_locked(store, due, lock, reprice)


async def _end_map(tx: Tx, match: Match, now: int, config: IngestConfig) -> None:
    after, changes = fold(match, [EndOverdue(at=now)])
    if after is not match:
        log.warning("a map ended by the rules: its log reports no end", match_id=str(match.id))
    await match_update.react_and_write(
        tx, match, after, changes, now=now, may_price=not match.applied_late, pricing=config.pricing
    )


async def skip_missing(store: Store, now: int, config: IngestConfig) -> int:
    """Continue after missing ranges that have not come in time; how many matches."""
    async with store.autocommit() as tx:
        overdue = await log_state.overdue(tx, now - config.gap_millis)

    closed = set()

    async def close(tx: Tx, match: Match) -> None:
        await _close_gap(tx, match, now, config)
        closed.add(match.id)

    done = await for_each_match(store, overdue, close)
    failed = [match_id for match_id in overdue if match_id not in closed]
    return done + await _close_apart(store, failed, now, config)


async def _close_apart(store: Store, failed: Sequence[UUID], now: int, config: IngestConfig) -> int:
    """Close gaps before ranges of which some cannot be applied: these are parked, the others applied."""

    async def close(tx: Tx, match: Match) -> None:
        await _close_gap(tx, match, now, config, with_pending=False)

    done = await for_each_match(store, failed, close)
    for match_id in failed:
        try:
            await lost_lines.apply_pending(store, match_id, now, config)
        except Unavailable:
            raise
        except Exception:
            log.exception("pending log ranges cannot be applied", match_id=str(match_id))
    return done


async def _close_gap(
    tx: Tx, match: Match, now: int, config: IngestConfig, *, with_pending: bool = True
) -> None:
    state = await log_state.get(tx, match.id)
    first = batches.first_pending(state, await log_state.pending(tx, match.id))
    if first is None or not batches.is_early(state, first):
        update = LogUpdate(tx, match, state)
    elif state.next_offset == 0 and match.map is None:
        # Before play nothing depends on the lines that a server wrote before it sent us its log.
        update = LogUpdate(tx, match, replace(state, next_offset=first.begin))
    else:
        missing = (state.next_offset, first.begin)
        log.warning("log bytes are missing", match_id=str(match.id), missing=missing)
        update = LogUpdate(tx, match, replace(state, has_gap=True, next_offset=first.begin))
        update.facts.append(DataLost(at=first.arrived_at, reason=LOG_GAP))
    await (update.add_pending() if with_pending else update.drop_obsolete())
    await update.finish(now, config)


_TICK_SECONDS = 1.0
_REPRICE_SECONDS = 0.25
_DEAD_MILLIS = 5000  #: after so long without a heartbeat a worker is assigned no queues
log = get_logger(__name__)


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
            group.create_task(_reprice_regularly(store, config, stopping, clock))
            ending = run_forever("ending stalled sessions", partial(end_stalled_regularly, store))
            background = group.create_task(ending)
            while not stopping.is_set():
                await tick(store, assignment, clock(), config, queues.empty)
                await _until(stopping, _TICK_SECONDS)
            background.cancel()
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
        await skip_missing(store, now, config)
        await match_checks.suspend_silent(store, now, config)
        await match_checks.resume_after_ingest_outage(store, now, config, queues_empty)
        await match_checks.note_silence(store, now, config)
        await match_checks.forget_rivals(store, now, config)
        await refresh_ratings(store, now, config)
    except Unavailable as error:
        log.warning("the database is unavailable", error=error.detail)


async def _reprice_regularly(
    store: Store, config: IngestConfig, stopping: asyncio.Event, clock: Clock
) -> None:
    while not stopping.is_set():
        try:
            await reprice_due(store, clock, config)
        except Unavailable as error:
            log.warning("prices wait for the database", error=error.detail)
        await _until(stopping, _REPRICE_SECONDS)


async def _until(stopping: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        return
