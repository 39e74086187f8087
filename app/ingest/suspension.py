"""Suspensions that no log line causes: silent sources, no worker alive, lines that are lost."""

from collections.abc import Awaitable, Callable, Sequence

from app.commands import match_update
from app.domain.changes import DetailsChanged, MatchChange
from app.domain.doubts import PROCESSING_STOPPED, SERVER_SILENT, SILENT, raise_doubt
from app.domain.facts import DataComplete, DataLost, SilenceEnded
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import silence
from app.ingest.config import IngestConfig
from app.ingest.match_checks import for_each_match
from app.kit.logging import get_logger
from app.store import markets, matches
from app.store.connections import Store
from app.store.transaction import Tx

log = get_logger(__name__)


async def suspend_silent(store: Store, now: int, config: IngestConfig) -> int:
    """Suspend live matches with open markets whose source is silent for longer than usual; how many."""
    async with store.autocommit() as tx:
        quiet = await matches.quiet(tx, now - silence.shortest(config))
    silent = [match.id for match in quiet if silence.is_silent(match, now, config)]

    async def suspend(tx: Tx, match: Match) -> None:
        if silence.is_silent(match, now, config):
            await _suspend_for_doubt(tx, match, SERVER_SILENT, now)

    return await for_each_match(store, silent, suspend)


async def suspend_everything(store: Store, now: int) -> int:
    """Suspend every active market of every match; how many matches had one.

    The feed process calls it when no ingest worker is alive. A worker that returns lifts it: before play at
    once (`resume_after_ingest_outage`), when the queues are empty, in play with the next fresh lines.
    """
    async with store.autocommit() as tx:
        offered = await markets.matches_with_active(tx)

    async def suspend(tx: Tx, match: Match) -> None:
        await _suspend_for_doubt(tx, match, PROCESSING_STOPPED, now)

    return await for_each_match(store, offered, suspend)


async def resume_after_ingest_outage(
    store: Store, now: int, config: IngestConfig, queues_empty: Callable[[], Awaitable[bool]]
) -> int:
    """Put matches that have not begun back on offer after `suspend_everything`; how many.

    Not before what was queued during the outage has been taken from the queues: such a match may have begun
    in it.
    """
    async with store.autocommit() as tx:
        waiting = await matches.suspended_before_play(tx, PROCESSING_STOPPED)
    if not waiting or not await queues_empty():
        return 0

    async def resume(tx: Tx, match: Match) -> None:
        after, changes = fold(match, [DataComplete(at=now), SilenceEnded(at=now)])
        await match_update.react_and_write(
            tx, match, after, changes, now=now, may_price=not after.applied_late, pricing=config.pricing
        )

    return await for_each_match(store, waiting, resume)


async def _suspend_for_doubt(tx: Tx, match: Match, reason: str, now: int) -> None:
    """Suspend a match of which nothing is lost so far: the missing lines may still come."""
    if match.over:
        return
    after = raise_doubt(match, SILENT, reason)
    await _suspend(tx, match, after, (DetailsChanged(),), reason, now)


async def suspend_for_loss(tx: Tx, match: Match, reason: str, now: int) -> None:
    """Suspend a match of which lines of the present round are lost."""
    after, changes = fold(match, [DataLost(at=now, reason=reason)])
    await _suspend(tx, match, after, changes, reason, now)


async def _suspend(
    tx: Tx, match: Match, after: Match, changes: Sequence[MatchChange], reason: str, now: int
) -> None:
    await match_update.suspend_and_write(tx, match, after, changes, reason=reason, now=now)
    log.warning("suspended", match_id=str(match.id), reason=reason)
