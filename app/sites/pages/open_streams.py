"""How many streams each session has open, and whether those sessions still last."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Set
from contextlib import contextmanager
from uuid import UUID

from app.kit.errors import Unavailable

PER_SESSION = 6  #: as many as browsers open connections to one host (HTTP/1.1)
SECONDS = 2.0  #: how often open streams look whether their sessions still last

Valid = Callable[[Collection[UUID]], Awaitable[Set[UUID]]]


class OpenStreams:
    """The streams that sessions have open. `valid` gives those of some sessions that are valid; it is called
    at most once in `seconds` for all of them together."""

    def __init__(
        self,
        valid: Valid,
        limit: int = PER_SESSION,
        seconds: float = SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self._valid, self._limit, self._monotonic = valid, limit, monotonic
        self._open: Counter[UUID] = Counter()
        self._ended: Set[UUID] = frozenset()  # of those that were open at the last look
        self._looked_at = -1.0
        self._looking: asyncio.Future[None] | None = None

    def has_room(self, session_id: UUID) -> bool:
        return self._open[session_id] < self._limit

    @contextmanager
    def counted(self, session_id: UUID) -> Iterator[None]:
        """While the block runs, the session has one stream more."""
        self._open[session_id] += 1
        try:
            yield
        finally:
            self._open[session_id] -= 1
            if not self._open[session_id]:
                del self._open[session_id]

    async def lasts(self, session_id: UUID) -> bool:
        """Whether a session with an open stream was valid at most `seconds` ago. An open stream is no use of
        its session: that ends some hours after the last request of the user. Without the database nobody
        knows, so it lasts."""
        if self._looking is None and self._monotonic() - self._looked_at >= self.seconds:
            self._looked_at = self._monotonic()
            self._looking = asyncio.ensure_future(self._look())
        if self._looking is not None:
            # One who leaves must not cancel the read that others wait for.
            await asyncio.shield(self._looking)
        return session_id not in self._ended

    async def _look(self) -> None:
        watched = set(self._open)
        try:
            self._ended = watched - await self._valid(watched)
        except Unavailable:
            pass  # they last until somebody knows
        finally:
            self._looking = None
