"""Prices that time alone changes: clock and fuse decide rounds without a line.

A reaction says until when its prices may stand, and that is stored with the match. Every worker looks for
matches that are due. One of them locks a match and prices it again; the others skip it, and so does a
restarted worker that finds it done.
"""

from uuid import UUID

from app.commands import match_update
from app.domain.facts import EndOverdue
from app.domain.map_end import end_due_at
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import silence
from app.ingest.config import IngestConfig
from app.ingest.match_checks import for_each_locked
from app.kit.clock import Clock
from app.kit.logging import get_logger
from app.store import matches
from app.store.connections import Store
from app.store.transaction import Tx

log = get_logger(__name__)


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
        elif match.applied_late or silence.is_silent(match, now, config):
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
