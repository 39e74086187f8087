"""What a tenant's own queues have lost.

The broker dead-letters what a queue's limits drop (see `broker.provisioning`), so that losses are counted
exactly, however short the overflow was. When the tenant is notified of them, `loss_notice.OverflowNotices`
decides.
"""

import time
from collections.abc import Awaitable, Callable

from app.amqp.connection import BrokerError, ChannelClosed
from app.amqp.loss_notice import OverflowNotices
from app.amqp.queue_channel import NOT_FOUND, QueueChannel
from app.broker.management import Management, QueueCounts
from app.broker.provisioning import LOST, QUEUE_LIMITS, declare_topology
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.metrics import feed_dropped

_SLOW_DEPTH = QUEUE_LIMITS["max-length"] // 2
log = get_logger(__name__)


class QueueLosses:
    """Counts what the queues of one vhost have lost; `count` is the sum, from what was known before.

    Counting removes what it counts. So `on_record` is called before: it persists that the tenant is to be
    notified, for the next holder of the tenant, or raises `Unavailable`. If messages were removed and the
    broker's answer was lost, they count as one.
    """

    def __init__(
        self,
        management: Management,
        slug: str,
        vhost: str,
        exchange: str,
        count: int,
        alive_seconds: float,
        on_record: Callable[[], Awaitable[None]],
    ) -> None:
        self.count = count
        self._on_record, self._uncounted = on_record, False
        self._management, self._slug, self._vhost, self._exchange = management, slug, vhost, exchange
        self._notices = OverflowNotices(alive_seconds)

    @property
    def pending(self) -> bool:
        """Whether something was lost of which the tenant is yet to be notified."""
        return self._notices.pending or self._uncounted

    async def collect(self, queues: QueueChannel) -> bool:
        """Count what was lost since the last call; whether the tenant must be notified."""
        try:
            lost = await self._remove(queues)
        except (BrokerError, TimeoutError, Unavailable) as error:
            if isinstance(error, ChannelClosed) and error.code == NOT_FOUND:
                await self._declare_topology()  # the vhost was provisioned before losses were counted
            else:
                log.warning("counting losses failed", tenant=self._slug, error=repr(error))
            return False
        lost, self._uncounted = max(lost, int(self._uncounted)), False
        if lost:
            log.warning("the tenant's queues have lost messages", tenant=self._slug, count=lost)
            self.count += lost
            feed_dropped.labels(self._slug).inc(lost)
        return self._notices.is_due(lost, lost > 0 and await self._consumer_is_slow(), time.monotonic())

    async def _remove(self, queues: QueueChannel) -> int:
        """Purge the queue of the losses; how many messages were in it."""
        if not await queues.count(LOST):
            return 0
        await self._on_record()
        self._uncounted = True
        return await queues.purge(LOST)

    async def _consumer_is_slow(self) -> bool:
        """Whether a consumer is slow; False while the management API is unavailable."""
        try:
            return slow(await self._management.queues(self._vhost))
        except Unavailable as error:
            log.warning("reading queues failed", tenant=self._slug, error=error.detail)
            return False

    async def _declare_topology(self) -> None:
        try:
            await declare_topology(self._management, self._vhost, self._exchange)
        except Unavailable as error:
            log.warning("declaring a vhost's topology failed", tenant=self._slug, error=error.detail)


def slow(queues: list[QueueCounts]) -> bool:
    """Whether some consumer is far behind: its queue is half full."""
    return any(each.consumers > 0 and each.ready >= _SLOW_DEPTH for each in queues)
