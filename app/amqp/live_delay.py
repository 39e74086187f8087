"""How long live messages of this process wait for their confirms: the measure by which recoveries yield."""

import time
from collections.abc import Callable, Iterable

_SECONDS = 0.01  #: a replay yields to no shorter wait than this
_TIMES_USUAL = 2.0  #: nor to one that is shorter than so many usual ones: a durable queue confirms late
_MAX_SECONDS = 0.25  #: a longer wait counts as this: it is an outage
_SHARE = 1 / 64  #: of a new confirm in the usual wait


class LiveDelay:
    """`oldest` returns, for each tenant, since when (by `clock`) a live message waits for its confirm.
    `usual` (s) is the mean wait while nothing is replayed; `replaying` counts the tenants to which something
    is."""

    def __init__(
        self, oldest: Callable[[], Iterable[float | None]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.usual = 0.0
        self.replaying = 0
        self._oldest, self._clock = oldest, clock

    def confirmed(self, published_at: float) -> None:
        """A live message that was published then is confirmed."""
        if not self.replaying:
            self.usual += _SHARE * (min(_MAX_SECONDS, self._clock() - published_at) - self.usual)

    @property
    def long(self) -> bool:
        """Whether some live message waits so long that a replay must yield."""
        limit = self._clock() - max(_SECONDS, _TIMES_USUAL * self.usual)
        return any(at is not None and at < limit for at in self._oldest())

    def share(self, window: int) -> int:
        """How many messages may be unconfirmed in each replay: twice the window of one, in all of them."""
        return min(window, 2 * window // max(1, self.replaying))
