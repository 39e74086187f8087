"""Publishes `alive` to one tenant: on time, as long as what it states is true.

It is withheld while what happens now would not reach the tenant (no connection, a blocked broker, a change
log that cannot be read), so that clients notice. After a silence longer than clients wait, when messages were
lost to the tenant, or when no ingest worker is alive, the next one has `subscribed="0"`, once: the client
recovers, from the last message that it received. So after an outage of that length, and after a loss, it
comes before anything else: until the broker has confirmed it, the publisher waits. While nothing is bound,
nothing is published.

Clients recover over REST, and some request a recovery only once. So while no web process answers, only
notices are published, and they wait a moment for REST; when it is back, `subscribed="0"` is published once.

Losses of the tenant's own queues are counted in the same intervals. The broker dead-letters what a queue's
limits drop (see `broker.provisioning`), so that they are counted exactly, however short the overflow was.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from app.amqp.connection import BrokerError, ChannelClosed
from app.amqp.envelope import EnvelopeRenderer
from app.amqp.loss_notice import OverflowNotices
from app.amqp.publishers import FeedPublishers
from app.amqp.tenant_channels import NOT_FOUND, QueueChannel
from app.amqp.tenant_publisher import TenantPublisher
from app.broker.management import Management, QueueCounts
from app.broker.provisioning import LOST, QUEUE_LIMITS, declare_topology
from app.kit.background import abandon, wait_for_event
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.metrics import feed_dropped

_SLOW_DEPTH = QUEUE_LIMITS["max-length"] // 2
_CONFIRM_SECONDS = 5.0
_RETRY_SECONDS = 0.2
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


class RestState(Protocol):
    """Whether REST answers, whether it has been away for a moment only, and how often it was away."""

    @property
    def answers(self) -> bool: ...
    @property
    def awaited(self) -> bool: ...
    @property
    def outages(self) -> int: ...


class FeedStatus(msgspec.Struct, frozen=True):
    """What `alive` reports of the process: for how many seconds the change log has not been read to its end,
    ingest's last heartbeat (ms) when no worker is alive, else None, and whether REST answers."""

    age: Callable[[], float]
    dead_heartbeat: Callable[[], int | None]
    rest: RestState


class AlivePublisher:
    """Publishes `alive` to the tenant of a publisher, and the loss notice that they share."""

    def __init__(
        self,
        publisher: TenantPublisher,
        losses: QueueLosses,
        status: FeedStatus,
        renderer: EnvelopeRenderer,
        feed: FeedPublishers,
        clock: Clock = system_clock,
    ) -> None:
        self._publisher, self._notice = publisher, publisher.notice
        self._losses, self._status, self._clock = losses, status, clock
        self._renderer, self._feed = renderer, feed
        self._pending: asyncio.Task[None] | None = None
        self._notified_outages = status.rest.outages

    async def run(self) -> None:
        """Publish it for ever, from the moment that the tenant can be reached."""
        try:
            while True:
                self._publisher.attached.clear()
                begun = time.monotonic()
                if await self._beat():
                    await self._pause(begun)
                else:
                    await wait_for_event(self._publisher.attached, _RETRY_SECONDS)
        finally:
            if self._pending:
                abandon(self._pending)

    async def _pause(self, begun: float) -> None:
        """Wait for the next interval, or until there is a notice to publish. The interval counts from when
        this one began: counting losses, at a busy broker, is no reason for clients to consider us down."""
        notice = self._notice
        until = begun + notice.alive_seconds - 0.01
        while not self._is_due() and (left := until - time.monotonic()) > 0:
            notice.wake.clear()
            await wait_for_event(notice.wake, notice.pause(left))

    def _is_due(self) -> bool:
        """Whether there is a notice to publish now and a queue that receives anything, or an SDK that waits
        for its first `alive`."""
        bindings = self._notice.bindings
        return bindings.alive_wait == 0 or (bindings.any and self._notice_is_due())

    def _notice_is_due(self) -> bool:
        """Whether to publish `subscribed="0"` now; after an outage of REST once the client has bound its
        queues."""
        outage = self._status.rest.outages > self._notified_outages
        if outage and self._notice.bindings.notice_reaches_consumer:
            return True
        return self._notice.is_due(self._status.dead_heartbeat())

    async def _beat(self) -> bool:
        """Publish what is true; False when that is not possible now."""
        notice = self._notice
        stale = self._status.age() > notice.alive_seconds
        if not self._publisher.healthy or stale or notice.awaits_bindings:
            return False
        if not await self._confirmed():
            return False
        rest, due = self._status.rest, self._notice_is_due()
        if not notice.bindings.any:
            self._notified_outages = rest.outages
            notice.alive_skipped()
            self._publisher.pump()
            return True
        if due and rest.awaited:
            return False
        if notice.overdue:
            self._publisher.resume(self._clock() - notice.silent)
        if due and not await self._publish(subscribed=False):
            return False
        published = await self._publish_subscribed()
        self._publisher.pump()
        if published and (channels := self._publisher.channels):
            before = self._losses.count
            if await self._losses.collect(channels.queues):
                notice.record_loss()
            if lost := self._losses.count - before:
                self._publisher.samples.dropped(lost)
            notice.dropped, notice.withheld = self._losses.count, self._losses.pending
        return published

    async def _publish_subscribed(self) -> bool:
        """Publish `subscribed="1"`; it is withheld while no web process answers REST, and a notice
        follows."""
        if self._status.rest.answers:
            return await self._publish(subscribed=True)
        self._notice.bindings.alive_published()
        self._notice.alive_skipped()
        return True

    async def _publish(self, *, subscribed: bool) -> bool:
        self._pending = asyncio.create_task(self._publish_alive(subscribed))
        return await self._confirmed()

    async def _confirmed(self) -> bool:
        """Whether what was published last is confirmed. While it is not, nothing more is published: a broker
        that is blocked now accepts all of it later, and must not receive the same notice twice."""
        if self._pending is None:
            return True
        await asyncio.wait({self._pending}, timeout=_CONFIRM_SECONDS)
        if not self._pending.done():
            return False
        task, self._pending = self._pending, None
        if error := task.exception():
            log.warning("publishing alive failed", tenant=self._publisher.slug, error=repr(error))
        return error is None

    async def _publish_alive(self, subscribed: bool) -> None:
        notice = self._notice
        now, lost, dead_heartbeat = self._clock(), notice.lost, self._status.dead_heartbeat()
        refused_at, outages = notice.refused_at, self._status.rest.outages
        unbound_losses = notice.unbound_losses if notice.bindings.notice_reaches_consumer else 0
        channels = self._publisher.channels
        if channels is None:
            raise BrokerError(self._publisher.state)
        await self._feed.alive(self._renderer.alive(now, subscribed=subscribed), channels.alive)
        if not subscribed:
            self._notified_outages = outages
            self._publisher.samples.notified()
        notice.bindings.alive_published()
        notice.alive_published(
            subscribed=subscribed,
            lost=lost,
            dead_heartbeat=dead_heartbeat,
            unbound_losses=unbound_losses,
            refused_at=refused_at,
        )
