"""Whether the processes of each kind are alive, by what they record in the database.

- Ingest: while no worker is alive, every market is suspended.
- Web: whether a web process answers REST. `alive` states that the whole service is available, and clients
  recover over REST. Every web process announces each second that it listens (`app.http.server`), by the
  database's clock.
- Feed: its state, as any process can determine it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from app.kit.background import retry_while_unavailable
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import cursors, heartbeats
from app.store.connections import Store

OK = "ok"
NO_PROCESS = "no feed process is alive"
_INGEST_CHECK_SECONDS, _REST_CHECK_SECONDS = 1.0, 0.5
_HEARTBEAT_MILLIS = 15_000
_SILENT_MILLIS = 4_000  #: after so long without an announcement no web process listens
#: For so long after the database was away announcements may be old: web processes could not write them.
_AFTER_DATABASE_SECONDS = 3.0
_PATIENCE_SECONDS = 10.0
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
            await asyncio.sleep(_INGEST_CHECK_SECONDS)

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


class RestWatch:
    """`answers`: whether a web process listens, False before the first check. Where none has ever announced
    itself, that is unknown, and REST counts as answered. `outages` is how many times REST was away and is
    back."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.answers, self.outages = False, 0
        self.changed = asyncio.Event()
        self._away_since = time.monotonic()
        self._checked, self._unread, self._trusted_from = False, False, 0.0

    @property
    def awaited(self) -> bool:
        """Whether REST has been away for a moment only: what makes clients use REST can wait for it."""
        return not self.answers and time.monotonic() - self._away_since < _PATIENCE_SECONDS

    async def run(self) -> None:
        """Check for ever. While the database is away nothing is known, and nothing changes."""
        while True:
            try:
                await self.check()
            except Unavailable as error:
                self.note_unread(error)
            await asyncio.sleep(_REST_CHECK_SECONDS)

    def note_unread(self, error: Unavailable) -> None:
        """The database is away: it is not known whether REST answers, and web processes cannot announce."""
        self._unread = True
        log.warning("whether REST answers is not known", error=error.detail)

    async def check(self) -> None:
        """Check once; raises `Unavailable`."""
        async with self._store.autocommit() as tx:
            silent = await heartbeats.web_silence(tx)
        now = time.monotonic()
        if self._unread:
            self._unread, self._trusted_from = False, now + _AFTER_DATABASE_SECONDS
        if silent is None or silent <= _SILENT_MILLIS:
            self._is_back()
        elif self.answers and now >= self._trusted_from:
            self._is_away(now)
        self._checked = True

    def _is_back(self) -> None:
        if self.answers:
            return
        self.answers = True
        if self._checked:
            self.outages += 1
            log.info("REST answers again")
        self.changed.set()

    def _is_away(self, now: float) -> None:
        self.answers, self._away_since = False, now
        log.error("no web process listens; alive is withheld until one does")
        self.changed.set()


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
