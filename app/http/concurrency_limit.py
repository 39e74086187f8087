"""Expensive requests: a few of one key at a time, and a few in total, so that they do not delay other
requests.

A route is expensive if its `opt` has `concurrency_limited`. A request above the limit is refused at once
(429), before its body is read.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from app.kit.errors import TooManyRequests

PER_KEY, IN_TOTAL = 2, 4
_RETRY_SECONDS = 1


class ConcurrencyLimiter:
    """Counts the expensive requests that this process is handling."""

    def __init__(self) -> None:
        self._per_key: Counter[UUID] = Counter()

    @contextmanager
    def counted(self, key_id: UUID) -> Iterator[None]:
        """Count one request of this key for as long as the context lasts; raises `TooManyRequests`."""
        if self._per_key[key_id] >= PER_KEY:
            what = f"{PER_KEY} such requests of this key are being answered already; wait for one of them."
            raise TooManyRequests(what, retry_after=_RETRY_SECONDS)
        if self._per_key.total() >= IN_TOTAL:
            what = "Too many such requests are being answered at this moment; try again."
            raise TooManyRequests(what, retry_after=_RETRY_SECONDS)
        self._per_key[key_id] += 1
        try:
            yield
        finally:
            self._per_key[key_id] -= 1
            if not self._per_key[key_id]:
                del self._per_key[key_id]
