"""The figures of our tenants, as metrics: distance, connection, queues, losses."""

import asyncio
from collections.abc import Iterable

from app.access.delivery_status import CONNECTED, TenantStatus, tenant_statuses
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


async def keep_gauges(store: Store, management: Management, relay: Relay) -> None:
    """Show what there is to see of the relay's tenants, until cancelled."""
    try:
        while True:
            try:
                statuses = await tenant_statuses(store, management)
            except Unavailable as error:
                log.warning("the feed's figures cannot be read", error=error.detail)
            else:
                ours = {delivery.slug for delivery in relay.deliveries.values()}
                show(each for each in statuses if each.tenant in ours)
            await asyncio.sleep(_EVERY_SECONDS)
    finally:
        show(())


def show(tenants: Iterable[TenantStatus]) -> None:
    """Set every gauge of these tenants and forget all others."""
    for gauge in _GAUGES:
        gauge.clear()
    for status in tenants:
        metrics.feed_behind.labels(status.tenant).set(status.behind)
        metrics.feed_behind_seconds.labels(status.tenant).set(status.behind_seconds)
        metrics.feed_connected.labels(status.tenant).set(status.state == CONNECTED)
        queues = status.queues or ()
        metrics.feed_queued.labels(status.tenant).set(
            sum(each.ready + each.unacknowledged for each in queues)
        )
        metrics.feed_consumers.labels(status.tenant).set(sum(each.consumers for each in queues))
