"""The dead man's handle of ingest: no price stays open that nobody tends."""

import asyncio
from collections.abc import Awaitable, Callable

from app.kit.clock import Clock, system_clock
from app.kit.logging import get_logger
from app.kit.retry import retry_while_unavailable
from app.store import heartbeats
from app.store.connections import Store

_LOOK_SECONDS = 1.0
SuspendEverything = Callable[[], Awaitable[object]]
log = get_logger(__name__)


class Watch:
    """Looks each second when an ingest worker last beat; after `dead_seconds` without any, calls `suspend`
    at every look, and sets `died` at the first. `dead` is then that last beat (ms, 0 when there never was
    one), which names the death: whoever tells tenants of it can tell each of them once, whenever it comes to
    hold the tenant."""

    def __init__(
        self,
        store: Store,
        suspend: SuspendEverything,
        *,
        dead_seconds: float,
        clock: Clock = system_clock,
    ) -> None:
        self._store, self._suspend, self._clock = store, suspend, clock
        self._dead_millis = dead_seconds * 1000
        self._since = clock()
        self.dead: int | None = None
        self.died = asyncio.Event()

    async def run(self) -> None:
        while True:
            await retry_while_unavailable("watching ingest", self.look)
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self) -> None:
        """Look once; raises `Unavailable`. Before the first beat, time counts from our own start."""
        async with self._store.reading() as tx:
            newest = await heartbeats.latest(tx, heartbeats.INGEST)
        dead = self._clock() - max(newest, self._since) > self._dead_millis
        if dead:
            # At each look, for an operator's command may have opened something since the last one.
            await self._suspend()
        known, self.dead = self.dead, newest if dead else None
        if dead and known is None:
            log.error("no ingest worker beats; every open market is suspended", last_beat=newest)
            self.died.set()
