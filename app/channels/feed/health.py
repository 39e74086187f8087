"""How the feed is, as any process can see it."""

from app.kit.clock import Clock
from app.store import beats, cursors
from app.store.connections import Store

OK = "ok"
_BEATS_MILLIS = 15_000


async def feed_state(store: Store, clock: Clock, alive_seconds: int) -> str:
    """Whether every tenant has been told `alive` lately: while that is withheld, the feed is ill."""
    async with store.reading() as tx:
        silent, told = await cursors.silent(tx, 2 * alive_seconds * 1000)
        newest = await beats.newest(tx, beats.FEED)
    if told and clock() - newest > _BEATS_MILLIS:
        return "no feed process is alive"
    if silent:
        return f"{'no' if silent == told else 'not every'} tenant is told what happens"
    return OK
