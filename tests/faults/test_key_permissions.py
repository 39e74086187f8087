"""Who logs in with a key may do what its tenant's user may, and its own exchange is restored if it is
harmed."""

import asyncio
from collections.abc import Awaitable, Callable

import aio_pika
from aio_pika.abc import AbstractChannel
from aio_pika.exceptions import AMQPError

from app.access import broker_sync
from app.access.broker_sync import BrokerAccessConfig
from app.broker.management import Management
from app.broker.permissions import tenant_user
from tests.faults.broker import PrivateBroker
from tests.faults.keys import SDK_EXCHANGE, gets_in, publish, reading, tenant_with_key
from tests.faults.rig import Rig
from tests.sdk_client.broker import logged_in
from tests.support.eventually import eventually
from tests.support.meanwhile import ended
from tests.support.tenant_operations import (
    ALLOWED,
    ALLOWED_BY_KIND,
    ALLOWED_BY_LOGIN,
    REFUSED,
    REFUSED_BY_LOGIN,
)

Attempt = Callable[[AbstractChannel, str], Awaitable[object]]


async def refusal(broker: PrivateBroker, key: str, slug: str, attempt: Attempt) -> str:
    """Why the broker refuses it; empty when it does not."""
    try:
        async with logged_in(broker.tls, key, slug) as connection:
            await attempt(await connection.channel(), slug)
    except AMQPError as error:
        return str(error)
    return ""


async def test_a_key_may_do_what_is_listed_and_nothing_else(key_rig: Rig, broker: PrivateBroker) -> None:
    slug, key = await tenant_with_key(key_rig)
    for operation, attempt in (ALLOWED | ALLOWED_BY_KIND | ALLOWED_BY_LOGIN).items():
        assert await refusal(broker, key.raw, slug, attempt) == "", operation
    for operation, attempt in (REFUSED | REFUSED_BY_LOGIN).items():
        assert "ACCESS_REFUSED" in await refusal(broker, key.raw, slug, attempt), operation


async def test_an_exchange_that_a_key_has_replaced_is_restored(key_rig: Rig, broker: PrivateBroker) -> None:
    slug, key = await tenant_with_key(key_rig)
    config = BrokerAccessConfig(key_rig.settings.exchange, "http")
    assert await broker_sync.repair(key_rig.store, key_rig.management, config) == []
    async with logged_in(broker.tls, key.raw, slug) as connection:
        over = ended(connection)
        channel = await connection.channel()
        await channel.exchange_delete(SDK_EXCHANGE)
        await channel.declare_exchange(SDK_EXCHANGE, aio_pika.ExchangeType.FANOUT)
        await eventually(lambda: listed(key_rig.management, slug))
        assert await broker_sync.repair(key_rig.store, key_rig.management, config) == [slug]
        await asyncio.wait_for(over.wait(), 60)
    assert await broker_sync.repair(key_rig.store, key_rig.management, config) == []
    async with logged_in(broker.tls, key.raw, slug) as connection, reading(connection) as bodies:
        await publish(key_rig, slug, b"<a/>")
        assert await eventually(lambda: bodies) == [b"<a/>"]


async def listed(management: Management, slug: str) -> bool:
    """Whether the broker's list, which is some seconds old, has the client's connection."""
    return any(each.vhost == slug for each in (await management.inventory()).connections)


async def test_a_user_of_an_earlier_version_keeps_its_password_and_gets_the_tag(
    key_rig: Rig, broker: PrivateBroker
) -> None:
    tenant, url = await key_rig.tenant()
    user, password = tenant_user(tenant.slug), url.rpartition("@")[0].rpartition(":")[2]
    await key_rig.management.put_user(user, password)
    assert not await gets_in(broker, user, tenant.slug, password)
    config = BrokerAccessConfig(key_rig.settings.exchange, "http")
    assert await broker_sync.repair(key_rig.store, key_rig.management, config) == [tenant.slug]
    assert await broker_sync.repair(key_rig.store, key_rig.management, config) == []

    async def admitted() -> bool:
        return await gets_in(broker, user, tenant.slug, password)

    assert await eventually(admitted), "once the broker has forgotten that it refused it"
