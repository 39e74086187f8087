"""What a tenant's own queues have lost, and when to tell it so.

The broker dead-letters what a queue's limits make it lose (see `broker.provisioning`), so that losses are
counted exactly, however short the overflow was. Telling is another matter: `subscribed="0"` goes to all
queues of the vhost, and each makes its clients recover. So it is said when an overflow begins, again after
the last loss of it, and in between only where a consumer is slow: not for a queue that nobody reads.
"""

import time
from collections.abc import Awaitable, Callable

from aio_pika.exceptions import AMQPError, ChannelNotFoundEntity
from faststream.rabbit import RabbitBroker, RabbitQueue

from app.broker.management import Management, QueueCounts
from app.broker.provisioning import LOST, QUEUE_LIMITS, declare_topology
from app.kit.background import run_isolated
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.metrics import feed_dropped

_QUIET_BEATS = 6  #: so many times `alive` between two words about losses
_SLOW_DEPTH = QUEUE_LIMITS["max-length"] // 2
_TAKE_SECONDS = 5.0
log = get_logger(__name__)


class Overflow:
    """Decides; `quiet` is how long (s) after telling the tenant is not told again."""

    def __init__(self, quiet: float) -> None:
        self._quiet = quiet
        self._losing = self._untold = False
        self._told_at = float("-inf")

    def look(self, lost: int, slow: bool, now: float) -> bool:
        """Whether to tell now, given what was lost since the last look. `slow`: a queue that is far behind
        has consumers."""
        begins = lost > 0 and not self._losing
        self._losing = lost > 0
        self._untold = self._untold or self._losing
        if not self._untold or now - self._told_at < self._quiet:
            return False
        if not (begins or slow or not lost):
            return False
        self._untold, self._told_at = False, now
        return True

    @property
    def owed(self) -> bool:
        """Whether the tenant has not been told of the last losses yet."""
        return self._untold


class Losses:
    """Counts what the queues of one vhost have lost; `count` is the sum, from what was known before.

    Counting forgets what it counts. So `on_record` comes before: it keeps outside this process that the
    tenant is to be told, for whoever holds it next, or raises `Unavailable`. What was forgotten and never
    counted, because the answer was lost on its way, counts as one.
    """

    def __init__(
        self,
        management: Management,
        slug: str,
        exchange: str,
        count: int,
        alive_seconds: float,
        on_record: Callable[[], Awaitable[None]],
    ) -> None:
        self.count = count
        self._on_record, self._uncounted = on_record, False
        self._management, self._slug, self._exchange = management, slug, exchange
        self._overflow = Overflow(_QUIET_BEATS * alive_seconds)

    @property
    def owed(self) -> bool:
        """Whether something was lost that the tenant is yet to be told of."""
        return self._overflow.owed or self._uncounted

    async def look(self, broker: RabbitBroker) -> bool:
        """Take what was lost since the last look; whether the tenant must be told."""
        try:
            lost = await run_isolated(self._take(broker), 2 * _TAKE_SECONDS)
        except ChannelNotFoundEntity:  # the vhost was made before losses were counted
            await self._furnish()
            return False
        except (AMQPError, OSError, RuntimeError, Unavailable) as error:
            log.warning("losses cannot be counted", tenant=self._slug, error=repr(error))
            return False
        lost, self._uncounted = max(lost, int(self._uncounted)), False
        if lost:
            log.warning("the tenant's queues have lost messages", tenant=self._slug, count=lost)
            self.count += lost
            feed_dropped.labels(self._slug).inc(lost)
        return self._overflow.look(lost, lost > 0 and await self._behind(), time.monotonic())

    async def _take(self, broker: RabbitBroker) -> int:
        """How many messages lay in the queue of the losses, which is empty afterwards."""
        queue = await broker.declare_queue(RabbitQueue(LOST, declare=False))
        if not (await queue.declare(timeout=_TAKE_SECONDS)).message_count:
            return 0
        await self._on_record()
        self._uncounted = True
        return int((await queue.purge(timeout=_TAKE_SECONDS)).message_count or 0)

    async def _behind(self) -> bool:
        """Whether a consumer is slow; not known while the management API is away."""
        try:
            return slow(await self._management.queues(self._slug))
        except Unavailable as error:
            log.warning("queues cannot be looked at", tenant=self._slug, error=error.detail)
            return False

    async def _furnish(self) -> None:
        try:
            await declare_topology(self._management, self._slug, self._exchange)
        except Unavailable as error:
            log.warning("a vhost cannot be furnished", tenant=self._slug, error=error.detail)


def slow(queues: list[QueueCounts]) -> bool:
    """Whether some consumer is far behind: its queue is half full."""
    return any(each.consumers > 0 and each.ready >= _SLOW_DEPTH for each in queues)
