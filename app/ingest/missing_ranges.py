"""Byte ranges of a log that have not come in time: parsing continues after them."""

from collections.abc import Sequence
from uuid import UUID

from msgspec.structs import replace

from app.domain.doubts import LOG_GAP
from app.domain.facts import DataLost
from app.domain.match import Match
from app.ingest import offsets, pending_ranges
from app.ingest.config import IngestConfig
from app.ingest.log_update import LogUpdate
from app.ingest.match_checks import for_each_match
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import log_state
from app.store.connections import Store
from app.store.transaction import Tx

log = get_logger(__name__)


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
            await pending_ranges.apply_each(store, match_id, now, config)
        except Unavailable:
            raise
        except Exception:
            log.exception("pending log ranges cannot be applied", match_id=str(match_id))
    return done


async def _close_gap(
    tx: Tx, match: Match, now: int, config: IngestConfig, *, with_pending: bool = True
) -> None:
    state = await log_state.get(tx, match.id)
    first = offsets.first_pending(state, await log_state.pending(tx, match.id))
    if first is None or not offsets.is_early(state, first):
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
