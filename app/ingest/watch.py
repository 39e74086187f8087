"""No price stays open untended: what is suspended although no line says so."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from uuid import UUID

from msgspec.structs import replace

from app.commands import match_update
from app.domain.changes import Change, MatchChanged
from app.domain.doubts import AWAY, SERVER_SILENT, SILENT, raise_doubt
from app.domain.facts import SourceLost, SourceRestored, SourceResumed
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import offsets, rival_sources, silence
from app.ingest.batch import Batch
from app.ingest.config import IngestConfig
from app.ingest.run import HOLE, Run
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import alerts, log_state, markets, match_sources, matches
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.log_state import ParkedBatch
from app.store.transaction import Tx

_MOST = 300  #: characters of an error that an alert shows
log = get_logger(__name__)


async def suspend_silent(store: Store, now: int, terms: IngestConfig) -> int:
    """Suspend live matches with open prices whose source is silent for longer than usual; how many."""
    async with store.reading() as tx:
        quiet = await matches.quiet(tx, now - silence.shortest(terms))
    silent = [match.id for match in quiet if silence.is_silent(match, now, terms)]

    async def lose(tx: Tx, match: Match) -> None:
        if silence.is_silent(match, now, terms):
            await _doubt(tx, match, SERVER_SILENT, now)

    return await _each(store, silent, lose)


async def suspend_everything(store: Store, now: int) -> int:
    """Suspend every open price of every match; how many matches had one.

    For whoever sees that no ingest worker is alive. A worker that comes back lifts it: before play at
    once (`lift`), in play with the next fresh lines.
    """
    async with store.reading() as tx:
        offered = await markets.matches_with_open(tx)

    async def lose(tx: Tx, match: Match) -> None:
        await _doubt(tx, match, AWAY, now)

    return await _each(store, offered, lose)


async def lift(store: Store, now: int, terms: IngestConfig) -> int:
    """Let matches that have not begun be offered again after `suspend_everything`; how many."""
    async with store.reading() as tx:
        waiting = await log_state.suspended_before_play(tx, AWAY)

    async def back(tx: Tx, match: Match) -> None:
        after, changes = fold(match, [SourceRestored(at=now), SourceResumed(at=now)])
        await match_update.react_and_write(
            tx, match, after, changes, now=now, quoting=True, margin=terms.margin
        )

    return await _each(store, waiting, back)


async def forget_rivals(store: Store, now: int, terms: IngestConfig) -> int:
    """Lift the suspension of matches whose rival sources have been silent for long; how many."""
    before = now - terms.takeover_millis
    async with store.reading() as tx:
        waiting = await match_sources.rival_sources_gone(tx, before)

    async def forget(tx: Tx, match: Match) -> None:
        after, changes = await rival_sources.forget_rivals(tx, match, before, now)
        await match_update.react_and_write(
            tx, match, after, changes, now=now, quoting=True, margin=terms.margin
        )

    return await _each(store, waiting, forget)


async def close_holes(store: Store, now: int, terms: IngestConfig) -> int:
    """Give up missing ranges that have not come in time, and go on behind them; how many matches."""
    async with store.reading() as tx:
        overdue = await log_state.overdue(tx, now - terms.hole_millis)

    async def close(tx: Tx, match: Match) -> None:
        await _close_hole(tx, match, now, terms)

    return await _each(store, overdue, close)


async def _each(store: Store, ids: Iterable[UUID], act: Callable[[Tx, Match], Awaitable[None]]) -> int:
    """Do `act` to each match, locked, in a transaction of its own; how many it was done to.

    One match that fails must not keep the others open, so only a database that is away ends this.
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
            log.exception("a match could not be looked after", match_id=str(match_id))
    return done


async def _close_hole(tx: Tx, match: Match, now: int, terms: IngestConfig) -> None:
    source = await log_state.get(tx, match.id)
    first = offsets.first_waiting(source, await log_state.pending(tx, match.id))
    if first is None:
        run = Run(tx, match, source)
    elif source.next_offset == 0 and match.map is None:
        # Before play nothing depends on what a server wrote before we were told its log.
        run = Run(tx, match, replace(source, next_offset=first.begin))
    else:
        missing = (source.next_offset, first.begin)
        log.warning("log bytes are missing", match_id=str(match.id), missing=missing)
        run = Run(tx, match, replace(source, broken=True, next_offset=first.begin))
        run.facts.append(SourceLost(at=first.arrived_at, reason=HOLE))
    await run.take_waiting()
    await run.finish(now, terms)


async def park(store: Store, batch: Batch, error: str, now: int) -> None:
    """Lay a batch aside that cannot be applied, and suspend its match until a round begins whole."""
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
        await _lose(tx, match, HOLE, now)
        detail = f"batch {batch.id} could not be applied: {error[:_MOST]}"
        await alerts.begin(tx, AlertSubject(AlertKind.PARKED_BATCH, match_id=match.id), detail, now)


async def _skip(tx: Tx, match_id: UUID, batch: Batch) -> None:
    """Go on behind the batch as if it had been read."""
    source = await log_state.get(tx, match_id)
    given = offsets.as_pending(batch)
    if given is not None:
        source, _ = offsets.take(source, given)
    await tx.write([log_state.save_statement(replace(source, broken=True, last_message=batch.id))])


async def _doubt(tx: Tx, match: Match, reason: str, now: int) -> None:
    """Suspend a match of which nothing is lost so far: what it has missed may still come."""
    if match.over:
        return
    after = raise_doubt(match, SILENT, reason)
    await _suspend(tx, match, after, (MatchChanged(),), reason, now)


async def _lose(tx: Tx, match: Match, reason: str, now: int) -> None:
    """Suspend a match whose present round has lost some of its lines."""
    after, changes = fold(match, [SourceLost(at=now, reason=reason)])
    await _suspend(tx, match, after, changes, reason, now)


async def _suspend(
    tx: Tx, match: Match, after: Match, changes: Sequence[Change], reason: str, now: int
) -> None:
    await match_update.suspend_and_write(tx, match, after, changes, reason=reason, now=now)
    log.warning("suspended", match_id=str(match.id), reason=reason)
