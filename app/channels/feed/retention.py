"""How long the change log is kept: as long as tenants may lag and streams may resume, and no longer.

The oldest rows are deleted in pages, by whichever feed process comes first; vacuum takes the room back. That
needs no partitions: the log has one index beside its key that matters, and deleting costs less than writing
did. Fixture changes, which recoveries tell for days, move to a table of their own first.
"""

import asyncio

import msgspec

from app.domain.recovery import LATE_MILLIS
from app.kit.clock import Clock, system_clock
from app.kit.retry import retry_while_unavailable
from app.store import alerts, changes
from app.store.connections import Store

_EVERY_SECONDS = 60.0
_PAGE = 5_000
_BREATH_SECONDS = 0.05
_ALERTS_MILLIS = 30 * 86_400_000  #: alerts are kept for so long after their end


class Kept(msgspec.Struct, frozen=True):
    """For how many ms changes are kept, and how far back (ms) a recovery may reach."""

    changes: int
    window: int


async def keep_short(store: Store, kept: Kept, clock: Clock = system_clock) -> None:
    """Forget what is too old, each minute, until cancelled."""
    while True:
        await retry_while_unavailable("pruning the change log", lambda: prune(store, kept, clock()))
        await asyncio.sleep(_EVERY_SECONDS)


async def prune(store: Store, kept: Kept, now: int) -> int:
    """Forget what is too old at `now` (ms); how many changes went. Raises `Unavailable`."""
    gone = 0
    while page := await _prune_page(store, now - kept.changes):
        gone += page
        await asyncio.sleep(_BREATH_SECONDS)
    async with store.transaction() as tx:
        await changes.prune_fixtures(tx, now - kept.window - LATE_MILLIS)
        await changes.prune_seqs(tx)
        await alerts.prune(tx, now - _ALERTS_MILLIS)
    return gone


async def _prune_page(store: Store, before: int) -> int:
    async with store.transaction() as tx:
        return await changes.prune(tx, before, _PAGE)
