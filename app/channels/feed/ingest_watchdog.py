"""The watchdog of ingest: no market stays open that no process watches."""

import asyncio
from collections.abc import Awaitable, Callable

from app.kit.background import retry_while_unavailable
from app.kit.clock import Clock, system_clock
from app.kit.logging import get_logger
from app.store import heartbeats
from app.store.connections import Store

_CHECK_SECONDS = 1.0
SuspendEverything = Callable[[], Awaitable[object]]
log = get_logger(__name__)


class IngestWatchdog:
    """Checks each second when an ingest worker last recorded a heartbeat; after `dead_seconds` without one,
    calls `suspend` at every check, and sets `died` at the first. `dead_heartbeat` is then that last heartbeat
    (ms, 0 when there never was one), which identifies the outage: a tenant is notified of each outage once,
    whenever its holder acquires it."""

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
        self.dead_heartbeat: int | None = None
        self.died = asyncio.Event()

    async def run(self) -> None:
        while True:
            await retry_while_unavailable("checking ingest", self.check)
            await asyncio.sleep(_CHECK_SECONDS)

    async def check(self) -> None:
        """Check once; raises `Unavailable`. Before the first heartbeat, time counts from our own start."""
        async with self._store.autocommit() as tx:
            newest = await heartbeats.latest(tx, heartbeats.INGEST)
        dead = self._clock() - max(newest, self._since) > self._dead_millis
        if dead:
            # At each check, for an operator's command may have opened a market since the last one.
            await self._suspend()
        known, self.dead_heartbeat = self.dead_heartbeat, newest if dead else None
        if dead and known is None:
            log.error("no ingest worker is alive; every active market is suspended", last_beat=newest)
            self.died.set()
