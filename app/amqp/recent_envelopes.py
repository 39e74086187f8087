"""The newest envelopes, cached in memory so that tenants which keep up share them."""

from bisect import bisect_right
from collections.abc import Iterable

from app.amqp.envelope import Envelope

_MAX_COUNT = 4096
_MAX_BYTES = 64 * 1024 * 1024


class RecentEnvelopes:
    """A range of the change log: every envelope after `floor` and up to `head`, in order; those that take
    `max_bytes` of memory at most, and one at least."""

    def __init__(self, start: int, *, max_bytes: int = _MAX_BYTES) -> None:
        self.floor = start
        self.head = start
        self._seqs: list[int] = []
        self._envelopes: list[Envelope] = []
        self._bytes, self._max_bytes = 0, max_bytes

    def extend(self, envelopes: Iterable[Envelope], head: int) -> None:
        """Add what was read, up to and including the log's `head`; evict the older half when full."""
        for envelope in envelopes:
            self._seqs.append(envelope.seq)
            self._envelopes.append(envelope)
            self._bytes += envelope.memory
        self.head = head
        while len(self._seqs) > 1 and (len(self._seqs) > _MAX_COUNT or self._bytes > self._max_bytes):
            self._evict(len(self._seqs) // 2)

    def covers(self, after: int) -> bool:
        """Whether every envelope after the log's number `after` is here."""
        return after >= self.floor

    def next(self, after: int) -> Envelope | None:
        """The first envelope after `after`, None when there is none up to `head`."""
        index = bisect_right(self._seqs, after)
        return self._envelopes[index] if index < len(self._seqs) else None

    def _evict(self, count: int) -> None:
        self.floor = self._seqs[count - 1]
        self._bytes -= sum(envelope.memory for envelope in self._envelopes[:count])
        del self._seqs[:count], self._envelopes[:count]
