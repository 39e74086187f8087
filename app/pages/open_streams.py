"""How many streams each session has open."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

PER_SESSION = 6  #: as many as browsers open connections to one host (HTTP/1.1)


class OpenStreams:
    """The streams that sessions have open."""

    def __init__(self, limit: int = PER_SESSION) -> None:
        self._limit = limit
        self._open: Counter[UUID] = Counter()

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
