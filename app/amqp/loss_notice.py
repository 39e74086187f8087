"""What a tenant was told of the feed itself, and what it is yet to be told.

Shared by the tenant's delivery, which says here what was lost and waits while a word comes first, and by its
heartbeat, which says the word: `alive subscribed="0"`. As each such word starts a recovery, losses that
follow closely on a word about losses share the next one. Not so a gap: what was published while no queue of
the tenant took it is told of as soon as `alive` reaches one again, before anything newer.
"""

import asyncio
import time

from app.amqp.tenant_bindings import Audience
from app.store.cursors import LeasedTenant

_QUIET_BEATS = 3  #: so many times `alive` between two words about losses


class Word:
    """`alive` is due every `seconds`. `lost` counts what was lost to the tenant, `dropped` what its own
    queues lost; `withheld`: of these it is to be told later. `told_dead` is the last death of ingest that it
    was told of (-1: none). `gaps` counts what no queue of the tenant took, `audience` says
    who receives now. `hurried` is set when there may be something to say before the next time."""

    def __init__(self, taken: LeasedTenant, seconds: float) -> None:
        self.seconds = seconds
        self.audience = Audience(taken.bound)
        self.lost, self.dropped, self.withheld, self.gaps = 0, taken.dropped, False, 0
        self.told_dead = taken.told_dead
        self.hurried = asyncio.Event()
        self._said_at = time.monotonic() - taken.silent / 1000
        self._told_lost, self._told_lost_at, self._told_gaps = 0, float("-inf"), 0
        if taken.owed:
            self.gap()

    @property
    def silent(self) -> int:
        """For how many ms `alive` has not been said."""
        return round((time.monotonic() - self._said_at) * 1000)

    @property
    def overdue(self) -> bool:
        """Not said for so long that clients take us for down."""
        return time.monotonic() - self._said_at > 2 * self.seconds

    @property
    def untold(self) -> bool:
        """Whether something was lost that the tenant has not been told of."""
        return self.lost > self._told_lost

    @property
    def quiet(self) -> float:
        """For how many seconds nothing more is said about losses."""
        return max(0.0, self._told_lost_at + _QUIET_BEATS * self.seconds - time.monotonic())

    @property
    def first(self) -> bool:
        """Whether there is an outage or a loss to tell of, before anything else."""
        if self.overdue or (self.untold and not self.quiet):
            return True
        return self._gap_untold and self.audience.reached

    @property
    def waits(self) -> bool:
        """Whether nothing is to be told yet: a gap is to be told of first, to a client that is binding."""
        return self._gap_untold and self.audience.grace > 0

    @property
    def owed(self) -> bool:
        """Whether there is a loss to tell of, now or after a while."""
        return self.untold or self._gap_untold or self.withheld

    def pause(self, left: float) -> float:
        """For how many seconds of those `left` nothing more is to be said, as far as can be seen."""
        if self._gap_untold and (grace := self.audience.grace):
            left = min(left, grace)
        return min(left, self.quiet) if self.untold else left

    @property
    def _gap_untold(self) -> bool:
        return self.gaps > self._told_gaps

    def due(self, dead: int | None) -> bool:
        """Whether there is something to say now; `dead` is ingest's last beat when it is dead."""
        return self.first or (dead is not None and dead != self.told_dead)

    def missed(self) -> None:
        """Something was lost to the tenant, which must be told so."""
        self.lost += 1
        self.hurried.set()

    def gap(self) -> None:
        """Something was live while no queue of the tenant took it."""
        self.gaps += 1
        self.hurried.set()

    def unheard(self) -> None:
        """It is time for `alive`, and nothing is bound that it could be routed to."""
        self._said_at = time.monotonic()

    def said(self, *, subscribed: bool, lost: int, dead: int | None, gaps: int = 0) -> None:
        """`alive` was said; `lost`, `dead` and `gaps` are as they were when it was written, `gaps` 0 where no
        queue took it."""
        if not subscribed:
            self._told_gaps = max(self._told_gaps, gaps)
            if lost > self._told_lost:
                self._told_lost, self._told_lost_at = lost, time.monotonic()
            self.told_dead = self.told_dead if dead is None else dead
        if not (subscribed and self.overdue):  # one that comes so late is no news of the present
            self._said_at = time.monotonic()
