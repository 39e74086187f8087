"""A tenant that is revoked loses its connections to the broker, and gets back in with the same password."""

import asyncio
import time
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import aio_pika
import msgspec
import pytest
from aio_pika.exceptions import AMQPError

from app.access import admin, broker_sync
from app.access.admin import BrokerConfig
from app.access.broker_sync import BrokerAccessConfig
from app.broker import address, permissions, provisioning
from app.broker.connection import open_connection
from app.broker.management import Management
from app.broker.permissions import AuthorisationMode
from app.kit.errors import Conflict, Unavailable
from app.settings import Settings
from app.store import heartbeats, tenants
from app.store.connections import Store
from tests.integration.access.conftest import BY
from tests.support.eventually import eventually
from tests.support.meanwhile import ended, meanwhile
from tests.support.ports import spare
from tests.support.tenants import gets_in
from tests.support.web import serving


@pytest.fixture
async def slug(store: Store, slug: str) -> str:
    async with store.transaction() as tx:
        await admin.create_tenant(tx, slug, slug, **BY)
    return slug


def entry(broker: BrokerConfig) -> BrokerAccessConfig:
    return BrokerAccessConfig(broker.exchange, broker.mode)


def keeping(store: Store, management: Management, broker: BrokerConfig) -> AbstractAsyncContextManager[None]:
    return meanwhile(broker_sync.run(store, management, entry(broker)))


async def set_active(store: Store, slug: str, active: bool) -> None:
    async with store.transaction() as tx:
        await admin.set_tenant_active(tx, slug, active, **BY)


async def until_broker_synchronised(store: Store) -> None:
    async def pending() -> object:
        async with store.autocommit() as tx:
            return await tenants.broker_access_pending(tx)

    await eventually(pending, lambda left: not left)


async def test_revoking_closes_connections_and_reactivating_restores_access(
    store: Store, broker: BrokerConfig, slug: str
) -> None:
    url = await admin.provision_amqp(store, slug, broker, **BY)
    connection = await aio_pika.connect(url)
    over = ended(connection)
    async with keeping(store, broker.management, broker):
        await set_active(store, slug, False)
        await asyncio.wait_for(over.wait(), 60)
        await connection.close()
        await until_broker_synchronised(store)
        assert not await gets_in(url)
        await set_active(store, slug, True)
        await until_broker_synchronised(store)
        assert await gets_in(url)


async def test_a_web_process_alone_applies_it(
    store: Store, broker: BrokerConfig, slug: str, settings: Settings
) -> None:
    """No feed process runs, and none may ever be started."""
    url = await admin.provision_amqp(store, slug, broker, **BY)
    async with serving(settings):
        await set_active(store, slug, False)
        await until_broker_synchronised(store)
    assert not await gets_in(url)


async def test_a_revocation_outlives_an_outage_of_the_broker(
    store: Store, broker: BrokerConfig, slug: str
) -> None:
    url = await admin.provision_amqp(store, slug, broker, **BY)
    async with Management("http://guest:guest@127.0.0.1:1") as away:
        async with keeping(store, away, broker):
            await set_active(store, slug, False)
        async with store.autocommit() as tx:
            (pending,) = await tenants.broker_access_pending(tx)
        with pytest.raises(Unavailable):
            await broker_sync.apply(store, away, pending, entry(broker))
    assert await gets_in(url)
    async with keeping(store, broker.management, broker):
        await until_broker_synchronised(store)
    assert not await gets_in(url)


async def test_new_credentials_close_connections_of_the_old_ones(
    store: Store, broker: BrokerConfig, slug: str
) -> None:
    old = await admin.provision_amqp(store, slug, broker, **BY)
    connection = await aio_pika.connect(old)
    over = ended(connection)
    new = await admin.provision_amqp(store, slug, broker, **BY)
    await asyncio.wait_for(over.wait(), 60)
    await connection.close()
    assert new != old
    assert await gets_in(new)
    assert not await gets_in(old)


async def test_a_revoked_tenant_is_not_provisioned(store: Store, broker: BrokerConfig, slug: str) -> None:
    await set_active(store, slug, False)
    with pytest.raises(Conflict, match="revoked"):
        await admin.provision_amqp(store, slug, broker, **BY)


async def test_a_tenant_revoked_while_being_provisioned_has_no_access(
    store: Store, broker: BrokerConfig, slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = []

    async def provision(*args: object, **options: object) -> str:
        urls.append(await made(*args, **options))  # type: ignore[arg-type]
        await set_active(store, slug, False)
        return urls[0]

    made = provisioning.provision
    monkeypatch.setattr(provisioning, "provision", provision)
    with pytest.raises(Conflict):
        await admin.provision_amqp(store, slug, broker, **BY)
    async with keeping(store, broker.management, broker):
        await until_broker_synchronised(store)
    assert not await gets_in(urls[0])


async def test_a_tenant_that_has_all_it_can_have_gets_new_credentials(
    store: Store, broker: BrokerConfig, slug: str
) -> None:
    """Ten queues and ten connections: none of either is left for a proof."""
    old = await admin.provision_amqp(store, slug, broker, **BY)
    async with AsyncExitStack() as stack:
        connections = [await stack.enter_async_context(open_connection(old, 5)) for _ in range(10)]
        channel = await connections[0].channel()
        for number in range(10):
            await channel.declare_queue(f"{slug}.{number}", durable=True)
        new = await admin.provision_amqp(store, slug, broker, **BY)
        await eventually(
            lambda: broker.management.connection_count(permissions.tenant_user(slug)), lambda left: not left
        )
    assert await gets_in(new) and not await gets_in(old)


async def test_credentials_that_do_not_work_are_not_the_tenants(
    store: Store, broker: BrokerConfig, slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No broker listens at its configured address, so that no login works."""
    monkeypatch.setattr(provisioning, "_LOGIN_SECONDS", 1.0)
    old = await admin.provision_amqp(store, slug, broker, **BY)
    [port] = spare(1)
    assert broker.address
    nowhere = msgspec.structs.replace(broker.address, nodes=(address.Node("127.0.0.1", port),))
    async with open_connection(old, 5) as connection:
        over = ended(connection)
        with pytest.raises(Unavailable, match="earlier one"):
            await admin.provision_amqp(store, slug, msgspec.structs.replace(broker, address=nowhere), **BY)
        await asyncio.wait_for(over.wait(), 60)
    assert await gets_in(old)


async def with_other_rights(broker: BrokerConfig, slug: str) -> None:
    """The tenant's rights are wider than ours, and there is no exchange for SDKs."""
    user, management = permissions.tenant_user(slug), broker.management
    await management.set_permissions(slug, user, configure=".*", write=".*", read=".*")
    await management.delete_exchange(slug, permissions.SDK_EXCHANGE)


async def test_other_permissions_are_corrected(store: Store, broker: BrokerConfig, slug: str) -> None:
    url = await admin.provision_amqp(store, slug, broker, **BY)
    user = permissions.tenant_user(slug)
    await with_other_rights(broker, slug)
    async with open_connection(url, 5) as connection:
        over = ended(connection)
        assert await broker_sync.repair(store, broker.management, entry(broker)) == [slug]
        await asyncio.wait_for(over.wait(), 60)
    held = (await broker.management.permissions()).get((slug, user))
    assert held == permissions.permission(broker.exchange, broker.mode)
    assert await gets_in(url)
    assert await broker_sync.repair(store, broker.management, entry(broker)) == []


async def former_process_is_alive(store: Store, alive: bool) -> None:
    async with store.transaction() as tx:
        await heartbeats.remove(tx, "former")
        if alive:
            at = int(time.time() * 1000)
            await tx.execute("INSERT INTO worker_beat (worker, kind, at) VALUES ('former', 'feed', $1)", at)


@pytest.mark.parametrize("mode", ["patterns", "http"])
async def test_replays_are_added_once_no_process_of_0_2_0_removes_them(
    store: Store, broker: BrokerConfig, slug: str, mode: AuthorisationMode
) -> None:
    """And no connection is closed for it."""
    url = await admin.provision_amqp(store, slug, broker, **BY)
    config, management = BrokerAccessConfig(broker.exchange, mode), broker.management
    await provisioning.apply_permissions(management, slug, broker.exchange, mode, replays=False)
    await management.delete_exchange(slug, permissions.REPLAY_EXCHANGE)
    async with open_connection(url, 5) as connection:
        over = ended(connection)
        await former_process_is_alive(store, True)
        assert await broker_sync.repair(store, management, config) == []
        assert provisioning.lacks_replay_exchange(await management.exchanges(), slug)
        await former_process_is_alive(store, False)
        assert await broker_sync.repair(store, management, config) == []
        assert not provisioning.lacks_replay_exchange(await management.exchanges(), slug)
        held = (await management.permissions()).get((slug, permissions.tenant_user(slug)))
        assert held == permissions.permission(broker.exchange, mode)
        assert not over.is_set()
        await (await connection.channel()).declare_queue(exclusive=True)


async def test_a_tenant_that_is_admitted_beside_0_2_0_may_not_read_replays_yet(
    store: Store, broker: BrokerConfig, slug: str
) -> None:
    """A process of 0.2.0 would close its connections for that right."""
    await admin.provision_amqp(store, slug, broker, **BY)
    config, management = BrokerAccessConfig(broker.exchange, "patterns"), broker.management
    await former_process_is_alive(store, True)
    async with store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, slug)
    await management.clear_permissions(slug, permissions.tenant_user(slug))
    await broker_sync.apply(store, management, tenant, config)
    assert await broker_sync.differing_tenants(management, [tenant], config, replays=False) == {}
    assert tenant in await broker_sync.differing_tenants(management, [tenant], config)
    await former_process_is_alive(store, False)
    await broker_sync.apply(store, management, tenant, config)
    assert await broker_sync.differing_tenants(management, [tenant], config) == {}


async def test_a_revoked_tenant_with_permissions_is_revoked_again(
    store: Store, broker: BrokerConfig, slug: str
) -> None:
    url = await admin.provision_amqp(store, slug, broker, **BY)
    await set_active(store, slug, False)
    async with keeping(store, broker.management, broker):
        await until_broker_synchronised(store)
    await provisioning.apply_permissions(broker.management, slug, broker.exchange, broker.mode)
    assert await gets_in(url)
    assert await broker_sync.repair(store, broker.management, entry(broker)) == [slug]
    assert not await gets_in(url)


async def test_as_many_queues_as_the_contract_says(store: Store, broker: BrokerConfig, slug: str) -> None:
    url = await admin.provision_amqp(store, slug, broker, **BY)
    async with keeping(store, broker.management, broker):
        async with store.transaction() as tx:
            await admin.set_max_queues(tx, slug, 2, **BY)
        await until_limited(broker, slug, 3)
        async with open_connection(url, 5) as connection:
            channel = await connection.channel()
            for _ in range(2):
                await channel.declare_queue(exclusive=True)
            with pytest.raises(AMQPError):
                await channel.declare_queue(exclusive=True)
            async with store.transaction() as tx:
                await admin.set_max_queues(tx, slug, 3, **BY)
            await until_limited(broker, slug, 4)
            await (await connection.channel()).declare_queue(exclusive=True)


async def until_limited(broker: BrokerConfig, slug: str, queues: int) -> None:
    async def limited() -> bool:
        return (await broker.management.vhost_limits()).get(slug) == {"max-queues": queues}

    assert await eventually(limited), "the broker has the limit"
