"""The state of the feed, as any process can determine it."""

from app.kit.clock import Clock
from app.store import cursors, heartbeats
from app.store.connections import Store

OK = "ok"
NO_PROCESS = "no feed process is alive"
_HEARTBEAT_MILLIS = 15_000


def _alive(newest: int, clock: Clock) -> bool:
    return clock() - newest <= _HEARTBEAT_MILLIS


async def process_state(store: Store, clock: Clock) -> str:
    """Whether a feed process is alive, with or without tenants."""
    async with store.autocommit() as tx:
        newest = await heartbeats.latest(tx, heartbeats.FEED)
    return OK if _alive(newest, clock) else NO_PROCESS


async def feed_state(store: Store, clock: Clock, alive_seconds: int) -> str:
    """Whether `alive` was published to every tenant lately: while it is withheld, the feed is unhealthy."""
    async with store.autocommit() as tx:
        silent, tenants = await cursors.silent_count(tx, 2 * alive_seconds * 1000)
        newest = await heartbeats.latest(tx, heartbeats.FEED)
    if tenants and not _alive(newest, clock):
        return NO_PROCESS
    if silent:
        return f"{'no' if silent == tenants else 'not every'} tenant receives alive"
    return OK
