"""What a queue is bound to is known, whenever it was bound: otherwise its tenant would receive nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from app.amqp.binding_tracker import BindingTracker
from app.amqp.lease import LeaseDeadline
from app.amqp.publishers import RecentEnvelopes
from app.amqp.tenant_publisher import TenantPublisher
from app.broker.address import parse
from app.broker.management import ExchangeBinding, Management
from app.kit.errors import Unavailable
from scripts.services import Services
from tests.faults.rig import Rig, consuming, until
from tests.integration.channels.feed.test_unbound_losses import EXCHANGE
from tests.unit.amqp.brokered import TAKEN, publisher_of


class LateManagement(Management):
    """Returns the bindings that it has read once it `may_return`; the next `failures` reads fail."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.reads, self.failures, self.may_return = 0, 0, asyncio.Event()

    async def bindings(self, vhost: str, exchange: str) -> list[ExchangeBinding]:
        if self.failures:
            self.failures -= 1
            raise Unavailable("The API does not respond.")
        found = await super().bindings(vhost, exchange)
        self.reads += 1
        await self.may_return.wait()
        return found


@pytest.fixture
async def management(services: Services) -> AsyncIterator[LateManagement]:
    async with LateManagement(services.rabbitmq_api_url) as management:
        yield management


class Tracked:
    """The tracker of one tenant, to whose vhost there is no connection yet."""

    def __init__(self, rig: Rig, management: Management, vhost: str) -> None:
        taken = replace(TAKEN, vhost=vhost)
        self.publisher: TenantPublisher = publisher_of(
            taken, window=5, lease=LeaseDeadline(10_000), recent=RecentEnvelopes(0)
        )
        broker, publishers = parse(rig.settings.rabbitmq_url), {taken.tenant_id: self.publisher}
        self.tracker = BindingTracker(management, broker, "/", EXCHANGE, publishers)

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Follow the broker's events meanwhile."""
        task = asyncio.create_task(self.tracker.run())
        try:
            await until("the subscription begins", lambda: self.tracker.reached)
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def until_known(self) -> None:
        bindings = self.publisher.bindings
        await until("the binding is known", lambda: bindings.known and bindings.routes_live)


@pytest.mark.parametrize("failures", [0, 2])
async def test_a_queue_bound_after_the_read_and_before_the_subscription(
    rig: Rig, management: LateManagement, failures: int
) -> None:
    """The tenant's vhost is connected to meanwhile."""
    tenant, url = await rig.tenant()
    tracked = Tracked(rig, management, tenant.vhost)
    management.may_return.set()
    await tracked.tracker.read(tracked.publisher)
    assert not tracked.publisher.bindings.routes_live
    management.failures = failures
    async with consuming(url, EXCHANGE), tracked.following():
        await tracked.until_known()


async def test_a_queue_bound_while_a_read_is_under_way_in_which_the_subscription_begins(
    rig: Rig, management: LateManagement
) -> None:
    tenant, url = await rig.tenant()
    tracked = Tracked(rig, management, tenant.vhost)
    reading = asyncio.create_task(tracked.tracker.read(tracked.publisher))
    await until("it is read", lambda: management.reads)
    async with consuming(url, EXCHANGE), tracked.following():
        management.may_return.set()
        await reading
        await tracked.until_known()
