"""For how long we may be sure that the tenants are still ours."""

import time
from collections.abc import Callable

Seconds = Callable[[], float]


class Lease:
    """The end of our lease by our own monotonic clock, counted from before the renewal was asked for: it
    is never later than the end that the database knows. Not held until the first renewal."""

    def __init__(self, millis: int, clock: Seconds = time.monotonic) -> None:
        self.millis = millis
        self._clock = clock
        self._until = 0.0

    @property
    def held(self) -> bool:
        return self._clock() < self._until

    def asking(self) -> float:
        """The present; hand it to `renewed` when the renewal that begins now has worked."""
        return self._clock()

    def renewed(self, asked_at: float) -> None:
        self._until = asked_at + self.millis / 1000

    def lost(self) -> None:
        self._until = 0.0
