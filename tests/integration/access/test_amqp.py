"""A tenant that is revoked loses its connections to the broker, and gets back in with the same password."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aio_pika
import pytest
from aio_pika.exceptions import AMQPError

from app.access import admin, amqp
from app.access.admin import Broker
from app.broker import address, provisioning
from app.broker.connection import connected
from app.broker.management import Management
from app.kit.errors import Conflict, Unavailable
from app.settings import Settings
from app.store import tenants
from app.store.connections import Store
from tests.integration.access.conftest import BY
from tests.support.web import serving

pytestmark = pytest.mark.anyio


@pytest.fixture
async def broker(settings: Settings) -> AsyncIterator[Broker]:
    async with Management(settings.rabbitmq_api_url) as management:
        where = address.parse(settings.rabbitmq_url)
        yield Broker(management, settings.exchange, settings.rabbitmq_public_host, where)


@pytest.fixture
async def slug(store: Store, slug: str) -> str:
    async with store.transaction() as tx:
        await admin.create_tenant(tx, slug, slug, **BY)
    return slug


@asynccontextmanager
async def keeping(store: Store, management: Management) -> AsyncIterator[None]:
    task = asyncio.create_task(amqp.keep(store, management))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def set_active(store: Store, slug: str, active: bool) -> None:
    async with store.transaction() as tx:
        await admin.set_tenant_active(tx, slug, active, **BY)


async def gets_in(url: str) -> bool:
    try:
        async with connected(url, 5):
            return True
    except (AMQPError, OSError):
        return False


async def until_settled(store: Store) -> None:
    async with asyncio.timeout(15):
        while True:
            async with store.reading() as tx:
                if not await tenants.unsettled(tx):
                    return
            await asyncio.sleep(0.02)


async def test_revoking_ends_connections_and_reactivating_lets_in_again(
    store: Store, broker: Broker, slug: str
) -> None:
    url = await admin.provision_amqp(store, slug, broker, **BY)
    connection = await aio_pika.connect(url)
    ended = asyncio.Event()
    connection.close_callbacks.add(lambda *_: ended.set())
    async with keeping(store, broker.management):
        await set_active(store, slug, False)
        async with asyncio.timeout(5):
            await ended.wait()
        await connection.close()
        await until_settled(store)
        assert not await gets_in(url)
        await set_active(store, slug, True)
        await until_settled(store)
        assert await gets_in(url)


async def test_a_web_process_alone_sees_to_it(
    store: Store, broker: Broker, slug: str, settings: Settings
) -> None:
    """No feed process runs, and none may ever be started."""
    url = await admin.provision_amqp(store, slug, broker, **BY)
    async with serving(settings):
        await set_active(store, slug, False)
        await until_settled(store)
    assert not await gets_in(url)


async def test_a_revocation_outlives_an_outage_of_the_broker(store: Store, broker: Broker, slug: str) -> None:
    url = await admin.provision_amqp(store, slug, broker, **BY)
    async with Management("http://guest:guest@127.0.0.1:1") as away:
        async with keeping(store, away):
            await set_active(store, slug, False)
        async with store.reading() as tx:
            (pending,) = await tenants.unsettled(tx)
        with pytest.raises(Unavailable):
            await amqp.settle(store, away, pending)
    assert await gets_in(url)
    async with keeping(store, broker.management):
        await until_settled(store)
    assert not await gets_in(url)


async def test_new_credentials_end_what_the_old_ones_opened(store: Store, broker: Broker, slug: str) -> None:
    old = await admin.provision_amqp(store, slug, broker, **BY)
    connection = await aio_pika.connect(old)
    ended = asyncio.Event()
    connection.close_callbacks.add(lambda *_: ended.set())
    new = await admin.provision_amqp(store, slug, broker, **BY)
    async with asyncio.timeout(5):
        await ended.wait()
    await connection.close()
    assert new != old
    assert await gets_in(new)
    assert not await gets_in(old)


async def test_a_revoked_tenant_is_not_provisioned(store: Store, broker: Broker, slug: str) -> None:
    await set_active(store, slug, False)
    with pytest.raises(Conflict, match="revoked"):
        await admin.provision_amqp(store, slug, broker, **BY)


async def test_who_is_revoked_while_being_provisioned_is_shut_out(
    store: Store, broker: Broker, slug: str, monkeypatch: pytest.MonkeyPatch
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
    async with keeping(store, broker.management):
        await until_settled(store)
    assert not await gets_in(urls[0])
