"""Byte ranges of a log that have not come in time: parsing continues after them."""

from msgspec.structs import replace

from app.domain.facts import DataLost
from app.domain.match import Match
from app.ingest import offsets
from app.ingest.config import IngestConfig
from app.ingest.log_update import GAP, LogUpdate
from app.ingest.match_checks import for_each_match
from app.kit.logging import get_logger
from app.store import log_state
from app.store.connections import Store
from app.store.transaction import Tx

log = get_logger(__name__)


async def skip_missing(store: Store, now: int, config: IngestConfig) -> int:
    """Continue after missing ranges that have not come in time; how many matches."""
    async with store.autocommit() as tx:
        overdue = await log_state.overdue(tx, now - config.gap_millis)

    async def close(tx: Tx, match: Match) -> None:
        await _close_gap(tx, match, now, config)

    return await for_each_match(store, overdue, close)


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
        update = LogUpdate(tx, match, replace(state, has_gap=True, next_offset=first.begin))
        update.facts.append(DataLost(at=first.arrived_at, reason=GAP))
    await update.add_pending()
    await update.finish(now, config)
