"""The metrics of our tenants: lag, connection, queues."""

import asyncio
from collections.abc import Iterable

from app.amqp.delivery_status import CONNECTED, TenantStatus, tenant_statuses
from app.amqp.relay import Relay
from app.broker.management import Management
from app.kit import metrics
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store.connections import Store

_EVERY_SECONDS = 10.0
_GAUGES = (
    metrics.feed_behind,
    metrics.feed_behind_seconds,
    metrics.feed_connected,
    metrics.feed_queued,
    metrics.feed_consumers,
)
log = get_logger(__name__)


async def update_gauges(store: Store, management: Management, relay: Relay) -> None:
    """Update the gauges of the relay's tenants, until cancelled."""
    try:
        while True:
            try:
                statuses = await tenant_statuses(store, management)
            except Unavailable as error:
                log.warning("reading the tenants' status failed", error=error.detail)
            else:
                ours = {publisher.slug for publisher in relay.publishers.values()}
                show(each for each in statuses if each.tenant in ours)
            await asyncio.sleep(_EVERY_SECONDS)
    finally:
        show(())


def show(tenants: Iterable[TenantStatus]) -> None:
    """Set every gauge of these tenants and remove all others."""
    for gauge in _GAUGES:
        gauge.clear()
    for each in tenants:
        metrics.feed_behind.labels(each.tenant).set(each.behind)
        metrics.feed_behind_seconds.labels(each.tenant).set(each.behind_seconds)
        metrics.feed_connected.labels(each.tenant).set(each.state == CONNECTED)
        queues = each.queues or ()
        messages = sum(queue.ready + queue.unacknowledged for queue in queues)
        metrics.feed_queued.labels(each.tenant).set(messages)
        metrics.feed_consumers.labels(each.tenant).set(sum(queue.consumers for queue in queues))
