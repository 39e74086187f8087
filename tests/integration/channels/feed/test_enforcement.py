"""What a tenant has at the broker and may not have is removed, and operators are alerted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aio_pika
import pytest
from aio_pika.abc import AbstractChannel

from app.broker import provisioning
from app.broker.address import parse
from app.broker.connection import open_connection
from app.broker.management import Management
from app.broker.permissions import tenant_user
from app.broker.violations import TenantLimits, Violation
from app.channels.feed.enforcement import Enforcement
from app.settings import Settings
from app.store import alerts
from app.store.connections import Store
from tests.support import unfinished
from tests.support.eventually import eventually

pytestmark = pytest.mark.anyio
LIMITS = TenantLimits(bindings=20, unacknowledged=5)
NOW = 1_800_000_000_000


class Corner:
    """A tenant's vhost, as the tenant and as we enter it, and what looks after it."""

    def __init__(self, slug: str, url: str, settings: Settings, store: Store, management: Management) -> None:
        self.slug, self.url, self.ours = slug, url, parse(settings.rabbitmq_url).url(slug)
        self.exchange, self.management, self.store = settings.exchange, management, store
        self.now = NOW
        self.enforcement = Enforcement(
            store, management, self.exchange, lambda: {slug}, LIMITS, clock=lambda: self.now
        )

    async def offence(self, rule: str) -> Violation:
        """The offence against that rule, once the broker's figures show it and it has been ended."""
        found = await eventually(
            self.enforcement.check, lambda all_of_them: any(each.rule == rule for each in all_of_them)
        )
        return next(each for each in found if each.rule == rule)

    async def alerts(self) -> list[str]:
        async with self.store.reading() as tx:
            return [alert.subject for alert in await alerts.listing(tx, ended=False)]

    async def queues(self) -> set[str]:
        return {each.name for each in await self.management.queues(self.slug)} - {provisioning.LOST}

    async def out(self) -> bool:
        return not await self.management.connection_count(tenant_user(self.slug))


@asynccontextmanager
async def channel(url: str) -> AsyncIterator[AbstractChannel]:
    async with open_connection(url, 5) as connection:
        yield await connection.channel()


@pytest.fixture
async def corner(settings: Settings, store: Store, slug: str) -> AsyncIterator[Corner]:
    async with Management(settings.rabbitmq_api_url) as management:
        url = await provisioning.provision(
            management,
            slug,
            settings.exchange,
            settings.rabbitmq_public_host,
            mode=settings.broker_authorisation,
            broker=parse(settings.rabbitmq_url),
        )
        yield Corner(slug, url, settings, store, management)


@pytest.mark.parametrize(
    ("rule", "arguments"),
    [
        ("queue_type", {"x-queue-type": "quorum"}),
        ("queue_arguments", {"x-overflow": "reject-publish"}),
        ("queue_arguments", {"x-max-priority": 255}),
    ],
)
async def test_a_queue_that_limits_do_not_bound_is_removed(
    corner: Corner, rule: str, arguments: aio_pika.abc.Arguments
) -> None:
    async with channel(corner.url) as theirs:
        await theirs.declare_queue(f"{corner.slug}.plain", durable=True, arguments={"x-max-length": 5})
        await theirs.declare_queue(f"{corner.slug}.other", durable=True, arguments=arguments)
        assert (await corner.offence(rule)).queue == f"{corner.slug}.other"
        assert await corner.out()
    assert await corner.queues() == {f"{corner.slug}.plain"}
    assert await corner.alerts() == [rule]


async def test_an_exchange_that_an_earlier_version_let_be_declared_is_removed(corner: Corner) -> None:
    async with channel(corner.ours) as ours:
        await ours.declare_exchange(f"{corner.slug}.mine", durable=True)
        await corner.offence("exchange")
    assert f"{corner.slug}.mine" not in {
        each.name for each in (await corner.management.inventory()).exchanges if each.vhost == corner.slug
    }


@pytest.mark.parametrize("exclusive", [True, False])
async def test_bindings_beyond_the_limit_go_with_their_queue(corner: Corner, exclusive: bool) -> None:
    """Bindings of one key that differ in their arguments count, too: authorisation is by key only."""
    async with channel(corner.url) as theirs:
        durable = await theirs.declare_queue(f"{corner.slug}.durable", durable=True)
        await durable.bind(corner.exchange, "#")
        much = await theirs.declare_queue(
            None if exclusive else f"{corner.slug}.much", exclusive=exclusive, durable=not exclusive
        )
        for number in range(LIMITS.bindings):
            await much.bind(corner.exchange, "#", arguments={"number": number})
        await corner.offence("bindings")
    assert await corner.queues() == {f"{corner.slug}.durable"}
    assert await corner.enforcement.check() == []


async def test_messages_unacknowledged_beyond_the_limit_return_to_their_queue(corner: Corner) -> None:
    async with channel(corner.url) as theirs, channel(corner.ours) as ours:
        name = f"{corner.slug}.held"
        queue = await theirs.declare_queue(name, durable=True)
        await queue.bind(corner.exchange, "#")
        exchange = await ours.get_exchange(corner.exchange)
        for _ in range(LIMITS.unacknowledged + 1):
            await exchange.publish(aio_pika.Message(b"<a/>"), "a.b")
            assert await queue.get()
        await corner.offence("unacknowledged")
        assert await corner.out()
        passive = await ours.declare_queue(name, passive=True)
        assert passive.declaration_result.message_count == LIMITS.unacknowledged + 1


async def test_a_tenant_that_publishes_what_no_queue_receives_is_disconnected(corner: Corner) -> None:
    async with unfinished.publishing(corner.url, corner.exchange) as writer:
        await unfinished.send(writer, LIMITS.received * 2)
        await corner.offence("sends")
        assert await corner.out()


async def test_an_alert_ends_when_there_was_no_offence_for_some_time(corner: Corner) -> None:
    async with channel(corner.ours) as ours:
        await ours.declare_exchange(f"{corner.slug}.mine", durable=True)
        await corner.offence("exchange")
    assert await corner.enforcement.check() == []
    assert await corner.alerts() == ["exchange"]
    corner.now += 600_001
    await corner.enforcement.check()
    assert await corner.alerts() == []
