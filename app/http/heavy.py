"""Requests that cost much: few of a key at a time, and few in all, so that nobody else waits for them.

A route is one by its `opt["heavy"]`. One too many is refused at once (429), before its body is read.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from app.kit.errors import TooManyRequests

OF_A_KEY, IN_ALL = 2, 4
_RETRY_SECONDS = 1


class HeavyRequests:
    """Those that are being answered by this process."""

    def __init__(self) -> None:
        self._of_key: Counter[UUID] = Counter()

    @contextmanager
    def counted(self, key_id: UUID) -> Iterator[None]:
        """Count one of this key meanwhile; raises `TooManyRequests`."""
        if self._of_key[key_id] >= OF_A_KEY:
            what = f"{OF_A_KEY} such requests of this key are being answered already; wait for one of them."
            raise TooManyRequests(what, retry_after=_RETRY_SECONDS)
        if self._of_key.total() >= IN_ALL:
            what = "Too many such requests are being answered at this moment; try again."
            raise TooManyRequests(what, retry_after=_RETRY_SECONDS)
        self._of_key[key_id] += 1
        try:
            yield
        finally:
            self._of_key[key_id] -= 1
            if not self._of_key[key_id]:
                del self._of_key[key_id]
