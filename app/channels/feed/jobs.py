"""What tenants request beside live messages: recoveries and replays, run for those that this session
holds."""

import asyncio
from collections.abc import Mapping
from uuid import UUID

from app.amqp.envelope import EnvelopeRenderer
from app.amqp.lease import LeaseDeadline
from app.amqp.publishers import FeedPublishers
from app.amqp.tenant_channels import ConfirmedChannel, TenantChannels
from app.amqp.tenant_publisher import TenantPublisher
from app.kit.clock import Clock
from app.recovery.runner import RecoveryRunner
from app.replay.runner import ReplayRunner
from app.store.connections import Store


class TenantJobs:
    """Run it with `run`. `publishers` are those of the tenants that the session serves at the moment."""

    def __init__(
        self,
        store: Store,
        holder: str,
        renderer: EnvelopeRenderer,
        feed: FeedPublishers,
        lease: LeaseDeadline,
        publishers: Mapping[UUID, TenantPublisher],
        clock: Clock,
    ) -> None:
        self._lease, self._publishers = lease, publishers
        self._recoveries = RecoveryRunner(
            store,
            holder,
            renderer,
            feed,
            reachable=self._reachable,
            channel=self._recovery_channel,
            is_leased=self._holds,
            clock=clock,
        )
        self._replays = ReplayRunner(
            store,
            holder,
            renderer.product,
            feed,
            reachable=self._reachable,
            channels=self._channels,
            is_leased=self._holds,
            clock=clock,
        )

    async def run(self) -> None:
        """Run what is requested until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._recoveries.run())
            group.create_task(self._replays.run())

    def _reachable(self) -> dict[UUID, str]:
        """The slugs of the tenants that we hold and can publish to: nothing is replayed into a blocked
        broker, nor before the notice of an outage."""
        return {
            each.tenant_id: each.slug
            for each in self._publishers.values()
            if each.healthy and not each.awaits_notice and self._holds(each.tenant_id)
        }

    def _channels(self, tenant_id: UUID) -> TenantChannels | None:
        publisher = self._publishers.get(tenant_id)
        return publisher.channels if publisher else None

    def _recovery_channel(self, tenant_id: UUID) -> ConfirmedChannel | None:
        channels = self._channels(tenant_id)
        return channels.replayed if channels else None

    def _holds(self, tenant_id: UUID) -> bool:
        publisher = self._publishers.get(tenant_id)
        return self._lease.held and publisher is not None and not publisher.releasing
