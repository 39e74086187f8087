"""What a tenant has at the broker and may not have is removed, and operators are alerted."""

from collections.abc import AsyncIterator

import aio_pika
import pytest

from app.broker import provisioning
from app.broker.address import parse
from app.broker.management import Management
from app.broker.permissions import tenant_user
from app.broker.violations import TenantLimits, Violation
from app.channels.feed.enforcement import Enforcement
from app.cli.connections import broker_config
from app.kit.errors import Unavailable
from app.settings import Settings
from app.store.connections import Store
from tests.support import stored, unfinished
from tests.support.eventually import eventually
from tests.support.tenants import channel

LIMITS = TenantLimits(bindings=20, unacknowledged=5)
NOW = 1_800_000_000_000


class EnforcedTenant:
    """A tenant's vhost, as the tenant and as we connect to it, and its enforcement."""

    def __init__(self, slug: str, url: str, settings: Settings, store: Store, management: Management) -> None:
        self.slug, self.url, self.ours = slug, url, parse(settings.rabbitmq_url).url(slug)
        self.exchange, self.management, self.store = settings.exchange, management, store
        self.now = NOW
        self.enforcement = Enforcement(
            store, management, self.exchange, lambda: {slug: slug}, LIMITS, clock=lambda: self.now
        )

    async def offence(self, rule: str) -> Violation:
        """The offence against that rule, once the broker's figures show it and it has been ended."""
        found = await eventually(
            self.enforcement.check, lambda all_of_them: any(each.rule == rule for each in all_of_them)
        )
        return next(each for each in found if each.rule == rule)

    async def alerts(self) -> list[str]:
        return [alert.subject for alert in await stored.open_alerts(self.store)]

    async def queues(self) -> set[str]:
        return {each.name for each in await self.management.queues(self.slug)} - {provisioning.LOST}

    async def out(self) -> bool:
        return not await self.management.connection_count(tenant_user(self.slug))


@pytest.fixture
async def tenant(settings: Settings, store: Store, slug: str) -> AsyncIterator[EnforcedTenant]:
    async with broker_config(settings) as broker:
        url = await broker.provision(slug)
        yield EnforcedTenant(slug, url, settings, store, broker.management)


@pytest.mark.parametrize(
    ("rule", "arguments"),
    [
        ("queue_type", {"x-queue-type": "quorum"}),
        ("queue_arguments", {"x-overflow": "reject-publish"}),
        ("queue_arguments", {"x-max-priority": 255}),
    ],
)
async def test_a_queue_that_limits_do_not_bound_is_removed(
    tenant: EnforcedTenant, rule: str, arguments: aio_pika.abc.Arguments
) -> None:
    async with channel(tenant.url) as theirs:
        await theirs.declare_queue(f"{tenant.slug}.plain", durable=True, arguments={"x-max-length": 5})
        await theirs.declare_queue(f"{tenant.slug}.other", durable=True, arguments=arguments)
        assert (await tenant.offence(rule)).queue == f"{tenant.slug}.other"
        assert await tenant.out()
    assert await tenant.queues() == {f"{tenant.slug}.plain"}
    assert await tenant.alerts() == [rule]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("é", {"x-max-priority": 255}),
        ("\u202e\x1b\n", {"x-max-priority": 255}),
        ("ü" * 100, {"x-max-priority": 255}),
        ("long", {f"x-{number:03}-{'a' * 200}": 1 for number in range(450)}),
    ],
)
async def test_what_a_tenant_names_its_own_keeps_nothing_from_being_removed(
    tenant: EnforcedTenant, name: str, arguments: dict[str, int]
) -> None:
    """Names are a tenant's own words: they are logged, stored, and sent in a header."""
    await tenant.management.put_queue(tenant.slug, f"{tenant.slug}.{name}", arguments)
    found = await tenant.offence("queue_arguments")
    assert found.detail.isascii() and found.detail.isprintable() and len(found.detail) < 400
    assert await tenant.queues() == set()
    assert await tenant.alerts() == ["queue_arguments"]


async def test_what_cannot_be_removed_keeps_nothing_else_from_being_removed(
    tenant: EnforcedTenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = f"{tenant.slug}.a", f"{tenant.slug}.b"
    await tenant.management.put_queue(tenant.slug, first, {"x-max-priority": 255})
    await tenant.management.put_queue(tenant.slug, second, {"x-queue-type": "quorum"})
    delete = tenant.management.delete_queue

    async def refused(vhost: str, queue: str) -> None:
        if queue == first:
            raise Unavailable("the broker refuses", retry_after=1)
        await delete(vhost, queue)

    monkeypatch.setattr(tenant.management, "delete_queue", refused)
    await tenant.offence("queue_type")
    assert await tenant.queues() == {first}
    assert set(await tenant.alerts()) == {"queue_arguments", "queue_type"}


async def test_an_exchange_that_an_earlier_version_let_be_declared_is_removed(tenant: EnforcedTenant) -> None:
    async with channel(tenant.ours) as ours:
        await ours.declare_exchange(f"{tenant.slug}.mine", durable=True)
        await tenant.offence("exchange")
    assert f"{tenant.slug}.mine" not in {
        each.name for each in (await tenant.management.inventory()).exchanges if each.vhost == tenant.slug
    }


@pytest.mark.parametrize("exclusive", [True, False])
async def test_bindings_beyond_the_limit_go_with_their_queue(tenant: EnforcedTenant, exclusive: bool) -> None:
    """Bindings of one key that differ in their arguments count, too: authorisation is by key only."""
    async with channel(tenant.url) as theirs:
        durable = await theirs.declare_queue(f"{tenant.slug}.durable", durable=True)
        await durable.bind(tenant.exchange, "#")
        much = await theirs.declare_queue(
            None if exclusive else f"{tenant.slug}.much", exclusive=exclusive, durable=not exclusive
        )
        for number in range(LIMITS.bindings):
            await much.bind(tenant.exchange, "#", arguments={"number": number})
        await tenant.offence("bindings")
    assert await tenant.queues() == {f"{tenant.slug}.durable"}
    assert await tenant.enforcement.check() == []


async def test_messages_unacknowledged_beyond_the_limit_return_to_their_queue(tenant: EnforcedTenant) -> None:
    async with channel(tenant.url) as theirs, channel(tenant.ours) as ours:
        name = f"{tenant.slug}.held"
        queue = await theirs.declare_queue(name, durable=True)
        await queue.bind(tenant.exchange, "#")
        exchange = await ours.get_exchange(tenant.exchange)
        for _ in range(LIMITS.unacknowledged + 1):
            await exchange.publish(aio_pika.Message(b"<a/>"), "a.b")
            assert await queue.get()
        await tenant.offence("unacknowledged")
        assert await tenant.out()
        passive = await ours.declare_queue(name, passive=True)
        assert passive.declaration_result.message_count == LIMITS.unacknowledged + 1


async def test_a_tenant_that_publishes_what_no_queue_receives_is_disconnected(tenant: EnforcedTenant) -> None:
    async with unfinished.publishing(tenant.url, tenant.exchange) as writer:
        await unfinished.send(writer, LIMITS.received * 2)
        await tenant.offence("sends")
        assert await tenant.out()


async def test_an_alert_ends_when_there_was_no_offence_for_some_time(tenant: EnforcedTenant) -> None:
    async with channel(tenant.ours) as ours:
        await ours.declare_exchange(f"{tenant.slug}.mine", durable=True)
        await tenant.offence("exchange")
    assert await tenant.enforcement.check() == []
    assert await tenant.alerts() == ["exchange"]
    tenant.now += 600_001
    await tenant.enforcement.check()
    assert await tenant.alerts() == []
