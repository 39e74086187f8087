"""API keys as users of a private broker: issued, logged in with, and read through."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aio_pika
from aio_pika.abc import AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import AMQPError

from app.access import admin
from app.access.admin import IssuedKey
from app.access.api_keys import KeyProperties
from app.broker.address import parse
from app.broker.connection import open_connection
from tests.faults.broker import PrivateBroker
from tests.faults.rig import Rig, consume
from tests.sdk_client.broker import logged_in

BY: dict[str, Any] = {"by": "tester", "now": 1000}
ODDS = "cs2.odds.basic"
SDK_EXCHANGE = "oddinfeed"
KEY = "hi.-.live.odds_change.2.od:match.1.-"


async def issue(rig: Rig, slug: str, **properties: Any) -> IssuedKey:
    granted = KeyProperties(**{"bundles": (ODDS,)} | properties)
    async with rig.store.transaction() as tx:
        return await admin.issue_key(tx, slug, granted, secret=rig.settings.secret_key, **BY)


async def tenant_with_key(rig: Rig, **properties: Any) -> tuple[str, IssuedKey]:
    tenant, _ = await rig.tenant()
    return tenant.slug, await issue(rig, tenant.slug, **properties)


async def numbered_vhost_with_key(rig: Rig) -> tuple[str, IssuedKey]:
    """A vhost that has the number of its tenant in its name, and a key of that tenant."""
    tenant, _ = await rig.tenant(numbered=True)
    return tenant.vhost, await issue(rig, tenant.slug)


async def gets_in(broker: PrivateBroker, key: str, vhost: str, password: str = "") -> bool:
    try:
        async with logged_in(broker.tls, key, vhost, password=password):
            return True
    except (AMQPError, OSError):
        return False


@asynccontextmanager
async def reading(connection: AbstractConnection) -> AsyncIterator[list[bytes]]:
    """What an exclusive queue receives that is bound as clients bind it."""
    bodies: list[bytes] = []

    async def receive(message: AbstractIncomingMessage) -> None:
        bodies.append(message.body)

    await consume(await connection.channel(), SDK_EXCHANGE, receive, "*.*.live.*.*.*.*.#")
    yield bodies


async def publish(rig: Rig, vhost: str, body: bytes) -> None:
    async with open_connection(parse(rig.settings.rabbitmq_url).url(vhost), 5) as ours:
        exchange = await (await ours.channel()).get_exchange(rig.settings.exchange)
        await exchange.publish(aio_pika.Message(body), KEY)
