"""How long the change log is retained: as long as tenants may lag and streams may resume, and no longer.

The oldest rows are deleted in pages, by any feed process; vacuum reclaims the space. That needs no
partitions: the log has one index beside its key that matters, and deleting costs less than writing did.
Fixture changes, which recoveries replay for days, move to a table of their own first; what replays and files
are made from is kept, compressed, in the transaction that deletes it.
"""

import asyncio

import msgspec

from app.domain.recovery import LATE_MILLIS
from app.kit.background import retry_while_unavailable
from app.kit.clock import system_clock
from app.store import alerts, changes, delivery_minutes, kept_changes, tenants
from app.store.connections import Store

_EVERY_SECONDS = 60.0
_PAGE = 2_000
_PAGE_PAUSE_SECONDS = 0.05
_ALERTS_MILLIS = 30 * 86_400_000  #: alerts are retained for so long after their end


class RetentionConfig(msgspec.Struct, frozen=True):
    """For how long changes are retained in the log, how far back a recovery may reach, and for how long the
    changes of matches are kept beyond the log (0: not at all)."""

    changes_millis: int
    recovery_window_millis: int
    kept_millis: int


async def prune_regularly(store: Store, config: RetentionConfig) -> None:
    """Delete what is too old, each minute, until cancelled."""
    while True:
        await retry_while_unavailable("pruning the change log", lambda: prune(store, config, system_clock()))
        await asyncio.sleep(_EVERY_SECONDS)


async def prune(store: Store, config: RetentionConfig, now: int) -> int:
    """Delete what is too old at `now` (ms); returns how many changes. Raises `Unavailable`."""
    deleted = 0
    while page := await _prune_page(store, now - config.changes_millis, keep=config.kept_millis > 0):
        deleted += page
        await asyncio.sleep(_PAGE_PAUSE_SECONDS)
    async with store.transaction() as tx:
        await kept_changes.prune(tx, now - config.kept_millis)
        await changes.prune_fixtures(tx, now - config.recovery_window_millis - LATE_MILLIS)
        await changes.prune_seqs(tx)
        await tenants.prune_booking_gaps(tx, await changes.oldest(tx))
        await alerts.prune(tx, now - _ALERTS_MILLIS)
        await delivery_minutes.prune(tx, now - delivery_minutes.RETAINED_MILLIS)
    return deleted


async def _prune_page(store: Store, before: int, *, keep: bool) -> int:
    async with store.transaction() as tx:
        return await changes.prune(tx, before, _PAGE, keep=keep)
