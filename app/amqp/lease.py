"""For how long this process certainly holds its tenants, and as which user of the broker it publishes to
them.
"""

import time
from collections.abc import Callable

import msgspec

from app.broker.address import Address

Seconds = Callable[[], float]


class LoginRefused(Exception):
    """The broker no longer knows our user: another process holds our tenants."""


class PublisherLogin(msgspec.Struct, frozen=True):
    """How this process connects to every vhost: its user, the connection's name, the exchange."""

    address: Address
    name: str
    exchange: str


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
