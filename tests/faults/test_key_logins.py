"""Existing clients log in with an API key, over TLS and without a password; whoever may not is refused, or
disconnected."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import aio_pika
import pytest
import uvicorn
from aio_pika.abc import AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import AMQPError

from app.access import admin, key_format
from app.access.admin import IssuedKey
from app.access.properties import KeyProperties
from app.broker.address import parse
from app.broker.authorisation import application
from app.broker.connection import open_connection
from app.broker.provisioning import USER_LIMITS, tenant_user
from app.settings import Settings
from app.store.connections import Store
from tests.faults.broker import PrivateBroker
from tests.faults.rig import Rig, rigged, until, until_async
from tests.sdk_client.broker import logged_in

pytestmark = pytest.mark.anyio
BY: dict[str, Any] = {"by": "tester", "now": 1000}
ODDS = "cs2.odds.basic"
SDK_EXCHANGE = "oddinfeed"
KEY = "hi.-.live.odds_change.2.od:match.1.-"


@pytest.fixture
async def rig(settings: Settings, store: Store, tmp_path: Path, broker: PrivateBroker) -> AsyncIterator[Rig]:
    with broker.admitting_keys(settings):
        async with rigged(broker.used_by(settings), store, tmp_path) as rig:
            yield rig


async def issue(rig: Rig, slug: str, **properties: Any) -> IssuedKey:
    granted = KeyProperties(**{"bundles": (ODDS,)} | properties)
    async with rig.store.transaction() as tx:
        return await admin.issue_key(tx, slug, granted, secret=rig.settings.secret_key, **BY)


async def tenant_with_key(rig: Rig, **properties: Any) -> tuple[str, IssuedKey]:
    tenant, _ = await rig.tenant()
    return tenant.slug, await issue(rig, tenant.slug, **properties)


async def revoke(rig: Rig, key_id: UUID) -> None:
    async with rig.store.transaction() as tx:
        await admin.revoke_key(tx, key_id, **BY)


def ended(connection: AbstractConnection) -> asyncio.Event:
    over = asyncio.Event()
    connection.close_callbacks.add(lambda *_: over.set())
    return over


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

    queue = await (await connection.channel()).declare_queue(exclusive=True)
    await queue.bind(SDK_EXCHANGE, "*.*.live.*.*.*.*.#")
    await queue.consume(receive, no_ack=True)
    yield bodies


async def publish(rig: Rig, vhost: str, body: bytes) -> None:
    async with open_connection(parse(rig.settings.rabbitmq_url).url(vhost), 5) as ours:
        exchange = await (await ours.channel()).get_exchange(rig.settings.exchange)
        await exchange.publish(aio_pika.Message(body), KEY)


async def test_a_key_reads_what_the_feed_publishes(rig: Rig, broker: PrivateBroker) -> None:
    slug, key = await tenant_with_key(rig)
    async with logged_in(broker.tls, key.raw, slug) as connection, reading(connection) as bodies:
        await publish(rig, slug, b"<a/>")
        await until("the message", lambda: bodies == [b"<a/>"])


async def test_who_may_not_is_refused(rig: Rig, broker: PrivateBroker) -> None:
    slug, key = await tenant_with_key(rig)
    another, _ = await tenant_with_key(rig)
    limited = await issue(rig, slug, networks=("10.1.2.0/24",))
    statistics = await issue(rig, slug, bundles=("cs2.stats",))
    soccer = await issue(rig, slug, sports=("soccer",))
    async with rig.store.transaction() as tx:
        await admin.create_tenant(tx, "newco", "Newco", **BY)
    without_vhost = await issue(rig, "newco")
    attempts = {
        "a key that nobody issued": (key_format.generate(), slug, ""),
        "a mistyped key": (key.raw[:-1] + "!", slug, ""),
        "a password": (key.raw, slug, "any"),
        "another tenant's vhost": (key.raw, another, ""),
        "our own vhost": (key.raw, "/", ""),
        "another address": (limited.raw, slug, ""),
        "no right to recover": (statistics.raw, slug, ""),
        "no right to the sport": (soccer.raw, slug, ""),
        "a tenant without a vhost": (without_vhost.raw, slug, ""),
        "a tenant's user with a wrong password": (tenant_user(slug), slug, "wrong"),
        "a tenant's user without a password": (tenant_user(slug), slug, ""),
    }
    assert [what for what, attempt in attempts.items() if await gets_in(broker, *attempt)] == []
    assert await gets_in(broker, key.raw, slug)


async def test_a_revoked_key_is_out_within_a_second(rig: Rig, broker: PrivateBroker) -> None:
    """Though the broker still lets it in from its cache: who comes back is disconnected again."""
    slug, key = await tenant_with_key(rig)
    other = await issue(rig, slug)
    async with logged_in(broker.tls, other.raw, slug) as untouched:
        async with logged_in(broker.tls, key.raw, slug) as connection:
            over = ended(connection)
            began = time.monotonic()
            await revoke(rig, key.key.id)
            async with asyncio.timeout(5):
                await over.wait()
            assert time.monotonic() - began < 1
        while await stays_in(broker, key.raw, slug) is not None:
            assert time.monotonic() - began < 20, "the broker lets it in for ever"
        assert not ended(untouched).is_set()


async def stays_in(broker: PrivateBroker, key: str, slug: str) -> float | None:
    """For how many seconds the broker lets a revoked key stay; None when it refuses the login."""
    try:
        async with logged_in(broker.tls, key, slug) as connection:
            began, over = time.monotonic(), ended(connection)
            async with asyncio.timeout(1.5):
                await over.wait()
            return time.monotonic() - began
    except (AMQPError, ConnectionError):
        return None


async def test_one_that_another_process_let_in_is_found(
    rig: Rig, broker: PrivateBroker, settings: Settings
) -> None:
    slug, key = await tenant_with_key(rig)
    async with logged_in(broker.tls, key.raw, slug) as connection:
        over = ended(connection)
        broker.answer_no_more()
        await revoke(rig, key.key.id)
        broker.answer(settings)
        async with asyncio.timeout(15):
            await over.wait()


async def test_a_rotated_key_is_replaced_at_once(rig: Rig, broker: PrivateBroker) -> None:
    slug, old = await tenant_with_key(rig)
    async with logged_in(broker.tls, old.raw, slug) as connection:
        over = ended(connection)
        async with rig.store.transaction() as tx:
            new = await admin.rotate_key(tx, old.key.id, secret=rig.settings.secret_key, **BY)
        async with logged_in(broker.tls, new.raw, slug):
            async with asyncio.timeout(5):
                await over.wait()


async def test_while_nobody_answers_clients_stay_and_we_come_back(
    rig: Rig, broker: PrivateBroker, settings: Settings
) -> None:
    slug, key = await tenant_with_key(rig)
    fresh = await issue(rig, slug)
    async with logged_in(broker.tls, key.raw, slug) as connection, reading(connection) as bodies:
        broker.answer_no_more()
        await publish(rig, slug, b"<b/>")
        await until("the message", lambda: bodies == [b"<b/>"])
        assert not await gets_in(broker, fresh.raw, slug)
        broker.answer(settings)

        async def admitted() -> bool:
            return await gets_in(broker, fresh.raw, slug)

        await until_async("its first login", admitted)
        await publish(rig, slug, b"<c/>")
        await until("it is still there", lambda: bodies == [b"<b/>", b"<c/>"])


async def test_an_eleventh_connection_and_an_eleventh_queue_are_refused(
    rig: Rig, broker: PrivateBroker
) -> None:
    slug, key = await tenant_with_key(rig)
    async with AsyncExitStack() as stack:
        for _ in range(USER_LIMITS["max-connections"]):
            connection = await stack.enter_async_context(logged_in(broker.tls, key.raw, slug))
        other = await issue(rig, slug)
        assert not await gets_in(broker, other.raw, slug), "the tenant's keys share the connections"
        channel = await connection.channel()
        for _ in range(10):
            await channel.declare_queue(exclusive=True)
        with pytest.raises(AMQPError, match="queue limit"):
            await channel.declare_queue(exclusive=True)


class CountedKeys:
    """Knows no key, and counts how often it is asked for one."""

    def __init__(self) -> None:
        self.asked = 0

    async def may_log_in(self, user: str) -> bool:
        self.asked += 1
        return False

    async def may_enter(self, user: str, vhost: str, address: str) -> bool:
        raise AssertionError("the login was refused")

    async def owns(self, user: str, vhost: str) -> bool:
        raise AssertionError("the login was refused")


async def test_a_wrong_key_is_looked_up_once(rig: Rig, broker: PrivateBroker) -> None:
    tenant, url = await rig.tenant()
    keys, wrong = CountedKeys(), key_format.generate()
    broker.answer_no_more()
    config = uvicorn.Config(
        application(rig.settings.exchange, lambda: keys),
        port=broker.authorisation_port,
        lifespan="off",
        log_config=None,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    try:
        await until("it answers", lambda: server.started)
        for _ in range(5):
            assert not await gets_in(broker, wrong, tenant.slug)
        async with open_connection(url, 5):
            assert keys.asked == 1
    finally:
        server.should_exit = True
        await serving
