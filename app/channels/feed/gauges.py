"""The metrics of our tenants: lag, connection, queues."""

import asyncio
from collections.abc import Iterable

from app.amqp.delivery_status import TenantStatus, tenant_statuses
from app.amqp.relay import Relay
from app.broker.management import Management
from app.kit import metrics
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store.connections import Store

_EVERY_SECONDS = 10.0
_CONNECTED_SECONDS = 1.0
_GAUGES = (metrics.feed_behind, metrics.feed_behind_seconds, metrics.feed_queued, metrics.feed_consumers)
log = get_logger(__name__)


async def update_gauges(store: Store, management: Management, relay: Relay) -> None:
    """Update the gauges of the relay's tenants, and the lag in their samples, until cancelled."""
    try:
        while True:
            try:
                statuses = await tenant_statuses(store, management)
            except Unavailable as error:
                log.warning("reading the tenants' status failed", error=error.detail)
            else:
                ours = {publisher.slug: publisher for publisher in relay.publishers.values()}
                statuses = [each for each in statuses if each.tenant in ours]
                show(statuses)
                for each in statuses:
                    ours[each.tenant].samples.waits(each.behind_seconds * 1000)
            await asyncio.sleep(_EVERY_SECONDS)
    finally:
        show(())


async def update_connected(relay: Relay) -> None:
    """Update the gauge of the connections to the relay's tenants, until cancelled; needs neither database nor
    broker."""
    try:
        while True:
            publishers = relay.publishers.values()
            metrics.set_tenants(
                metrics.feed_connected, {each.slug: float(each.healthy) for each in publishers}
            )
            await asyncio.sleep(_CONNECTED_SECONDS)
    finally:
        metrics.feed_connected.clear()


def show(tenants: Iterable[TenantStatus]) -> None:
    """Set every gauge of these tenants and remove all others."""
    values = {each.tenant: _values(each) for each in tenants}
    for index, gauge in enumerate(_GAUGES):
        metrics.set_tenants(gauge, {tenant: row[index] for tenant, row in values.items()})


def _values(tenant: TenantStatus) -> tuple[float, float, float, float]:
    """The values of `_GAUGES`, in their order."""
    queues = tenant.queues or ()
    messages = sum(queue.ready + queue.unacknowledged for queue in queues)
    return tenant.behind, tenant.behind_seconds, messages, sum(queue.consumers for queue in queues)
