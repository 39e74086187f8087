"""Whether anybody answers REST: `alive` says that the whole service is there, and its clients recover there.

Every web process announces each second that it listens (`app.http.server`), by the database's clock.
"""

import asyncio
import time

from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import heartbeats
from app.store.connections import Store

_CHECK_SECONDS = 0.5
_SILENT_MILLIS = 4_000  #: after so long without an announcement nobody listens
#: For so long after the database was away announcements may be old: web processes could not write them.
_AFTER_DATABASE_SECONDS = 3.0
_PATIENCE_SECONDS = 10.0
log = get_logger(__name__)


class RestWatch:
    """`answers`: whether a web process listens, False before the first check. Where none has ever announced
    itself, nobody can tell, and it counts as listening. `outages` is how
    many times REST was away and is back."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.answers, self.outages = False, 0
        self.changed = asyncio.Event()
        self._away_since = time.monotonic()
        self._checked, self._unread, self._trusted_from = False, False, 0.0

    @property
    def awaited(self) -> bool:
        """Whether REST has been away for a moment only: what clients would do by REST can wait for it."""
        return not self.answers and time.monotonic() - self._away_since < _PATIENCE_SECONDS

    async def run(self) -> None:
        """Check for ever. While the database is away nothing is known, and nothing changes."""
        while True:
            try:
                await self.check()
            except Unavailable as error:
                self.note_unread(error)
            await asyncio.sleep(_CHECK_SECONDS)

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
