"""How the feed is, as any process can see it."""

from app.kit.clock import Clock
from app.store import cursors, heartbeats
from app.store.connections import Store

OK = "ok"
NOBODY = "no feed process is alive"
_BEATS_MILLIS = 15_000


def _living(newest: int, clock: Clock) -> bool:
    return clock() - newest <= _BEATS_MILLIS


async def process_state(store: Store, clock: Clock) -> str:
    """Whether a feed process lives, be there tenants or not."""
    async with store.reading() as tx:
        newest = await heartbeats.latest(tx, heartbeats.FEED)
    return OK if _living(newest, clock) else NOBODY


async def feed_state(store: Store, clock: Clock, alive_seconds: int) -> str:
    """Whether every tenant has been told `alive` lately: while that is withheld, the feed is ill."""
    async with store.reading() as tx:
        silent, told = await cursors.silent_count(tx, 2 * alive_seconds * 1000)
        newest = await heartbeats.latest(tx, heartbeats.FEED)
    if told and not _living(newest, clock):
        return NOBODY
    if silent:
        return f"{'no' if silent == told else 'not every'} tenant is told what happens"
    return OK
