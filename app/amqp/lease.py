"""For how long this process certainly holds its tenants."""

import time
from collections.abc import Callable

Seconds = Callable[[], float]


class LeaseLost(Exception):
    """The lease expired before it was renewed, or the broker refuses our user: another process may hold our
    tenants."""


class LeaseDeadline:
    """The end of our lease by our own monotonic clock, counted from before the renewal was sent: it is never
    later than the end in the database. Not held until the first renewal."""

    def __init__(self, millis: int, clock: Seconds = time.monotonic) -> None:
        self.millis = millis
        self._clock = clock
        self._until = 0.0

    @property
    def held(self) -> bool:
        return self._clock() < self._until

    def now(self) -> float:
        """The present; pass it to `renewed` when the renewal that begins now has succeeded."""
        return self._clock()

    def renewed(self, started_at: float) -> None:
        self._until = started_at + self.millis / 1000

    def expire(self) -> None:
        self._until = 0.0
