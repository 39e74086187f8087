"""Existing clients log in with an API key, over TLS and without a password; any other login is refused, and
a key that ends is disconnected."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from uuid import UUID

import pytest
import uvicorn
from aio_pika.exceptions import AMQPError

from app.access import admin, api_keys
from app.access.admin import IssuedKey
from app.broker.authorisation import application
from app.broker.connection import open_connection
from app.broker.provisioning import USER_LIMITS, tenant_user
from app.settings import Settings
from tests.faults.broker import PrivateBroker
from tests.faults.keys import BY, gets_in, issue, numbered_vhost_with_key, publish, reading, tenant_with_key
from tests.faults.rig import Rig, until
from tests.sdk_client.broker import logged_in
from tests.support.databases import Databases
from tests.support.meanwhile import ended


@pytest.fixture(scope="module")
def shared_database_url(empty_databases: Databases) -> Iterator[str]:
    """One database for all tests here, so that the broker's authorisation is started for it once."""
    url = empty_databases.take()
    yield url
    empty_databases.give_back(url)


@pytest.fixture
def database_url(shared_database_url: str) -> str:
    return shared_database_url


async def revoke(key_rig: Rig, key_id: UUID) -> None:
    async with key_rig.store.transaction() as tx:
        await admin.revoke_key(tx, key_id, **BY)


@pytest.mark.parametrize("vhost_with_key", [tenant_with_key, numbered_vhost_with_key])
async def test_a_key_reads_what_the_feed_publishes(
    key_rig: Rig, broker: PrivateBroker, vhost_with_key: Callable[[Rig], Awaitable[tuple[str, IssuedKey]]]
) -> None:
    vhost, key = await vhost_with_key(key_rig)
    another, _ = await tenant_with_key(key_rig)
    async with logged_in(broker.tls, key.raw, vhost) as connection, reading(connection) as bodies:
        await publish(key_rig, vhost, b"<a/>")
        await until("the message", lambda: bodies == [b"<a/>"])
    assert not await gets_in(broker, key.raw, another)


async def test_who_may_not_is_refused(key_rig: Rig, broker: PrivateBroker) -> None:
    slug, key = await tenant_with_key(key_rig)
    another, _ = await tenant_with_key(key_rig)
    limited = await issue(key_rig, slug, networks=("10.1.2.0/24",))
    statistics = await issue(key_rig, slug, bundles=("cs2.stats",))
    soccer = await issue(key_rig, slug, sports=("soccer",))
    finished = await issue(key_rig, slug, finished_only=True)
    async with key_rig.store.transaction() as tx:
        await admin.create_tenant(tx, "newco", "Newco", **BY)
    without_vhost = await issue(key_rig, "newco")
    attempts = {
        "a key that nobody issued": (api_keys.new_key(), slug, ""),
        "a mistyped key": (key.raw[:-1] + "!", slug, ""),
        "a password": (key.raw, slug, "any"),
        "another tenant's vhost": (key.raw, another, ""),
        "our own vhost": (key.raw, "/", ""),
        "another address": (limited.raw, slug, ""),
        "no right to recover": (statistics.raw, slug, ""),
        "no right to the sport": (soccer.raw, slug, ""),
        "finished matches only": (finished.raw, slug, ""),
        "a tenant without a vhost": (without_vhost.raw, slug, ""),
        "a tenant's user with a wrong password": (tenant_user(slug), slug, "wrong"),
        "a tenant's user without a password": (tenant_user(slug), slug, ""),
    }
    assert [what for what, attempt in attempts.items() if await gets_in(broker, *attempt)] == []
    assert await gets_in(broker, key.raw, slug)


async def test_a_revoked_key_is_out_within_a_second(key_rig: Rig, broker: PrivateBroker) -> None:
    """Though the broker still lets it in from its cache: who comes back is disconnected again."""
    slug, key = await tenant_with_key(key_rig)
    other = await issue(key_rig, slug)
    async with logged_in(broker.tls, other.raw, slug) as untouched:
        async with logged_in(broker.tls, key.raw, slug) as connection:
            over = ended(connection)
            began = time.monotonic()
            await revoke(key_rig, key.key.id)
            await asyncio.wait_for(over.wait(), 60)
            assert time.monotonic() - began < 1
        while await stays_in(broker, key.raw, slug) is not None:
            assert time.monotonic() - began < 20, "the broker lets it in for ever"
        assert not ended(untouched).is_set()


async def stays_in(broker: PrivateBroker, key: str, slug: str) -> float | None:
    """For how many seconds the broker lets a revoked key stay; None when it refuses the login."""
    try:
        async with logged_in(broker.tls, key, slug) as connection:
            began, over = time.monotonic(), ended(connection)
            await asyncio.wait_for(over.wait(), 1.5)
            return time.monotonic() - began
    except (AMQPError, ConnectionError):
        return None


async def test_one_that_another_process_let_in_is_found(
    key_rig: Rig, broker: PrivateBroker, settings: Settings
) -> None:
    slug, key = await tenant_with_key(key_rig)
    async with logged_in(broker.tls, key.raw, slug) as connection:
        over = ended(connection)
        broker.answer_no_more()
        await revoke(key_rig, key.key.id)
        broker.answer(settings)
        await asyncio.wait_for(over.wait(), 60)


async def test_a_rotated_key_is_replaced_at_once(key_rig: Rig, broker: PrivateBroker) -> None:
    slug, old = await tenant_with_key(key_rig)
    async with logged_in(broker.tls, old.raw, slug) as connection:
        over = ended(connection)
        async with key_rig.store.transaction() as tx:
            new = await admin.rotate_key(tx, old.key.id, secret=key_rig.settings.secret_key, **BY)
        async with logged_in(broker.tls, new.raw, slug):
            await asyncio.wait_for(over.wait(), 60)


async def test_while_nobody_answers_clients_stay_and_we_come_back(
    key_rig: Rig, broker: PrivateBroker, settings: Settings
) -> None:
    slug, key = await tenant_with_key(key_rig)
    fresh = await issue(key_rig, slug)
    async with logged_in(broker.tls, key.raw, slug) as connection, reading(connection) as bodies:
        broker.answer_no_more()
        await publish(key_rig, slug, b"<b/>")
        await until("the message", lambda: bodies == [b"<b/>"])
        assert not await gets_in(broker, fresh.raw, slug)
        broker.answer(settings)

        async def admitted() -> bool:
            return await gets_in(broker, fresh.raw, slug)

        await until("its first login", admitted)
        await publish(key_rig, slug, b"<c/>")
        await until("it is still there", lambda: bodies == [b"<b/>", b"<c/>"])


async def test_an_eleventh_connection_and_an_eleventh_queue_are_refused(
    key_rig: Rig, broker: PrivateBroker
) -> None:
    slug, key = await tenant_with_key(key_rig)
    async with AsyncExitStack() as stack:
        for _ in range(USER_LIMITS["max-connections"]):
            connection = await stack.enter_async_context(logged_in(broker.tls, key.raw, slug))
        other = await issue(key_rig, slug)
        assert not await gets_in(broker, other.raw, slug), "the tenant's keys share the connections"
        channel = await connection.channel()
        for _ in range(10):
            await channel.declare_queue(exclusive=True)
        with pytest.raises(AMQPError, match="queue limit"):
            await channel.declare_queue(exclusive=True)


class CountedKeys:
    """Knows no key, and counts the lookups."""

    def __init__(self) -> None:
        self.lookups = 0

    async def may_log_in(self, user: str) -> bool:
        self.lookups += 1
        return False

    async def may_enter(self, user: str, vhost: str, address: str) -> bool:
        raise AssertionError("the login was refused")

    async def owns(self, user: str, vhost: str) -> bool:
        raise AssertionError("the login was refused")


async def test_a_wrong_key_is_looked_up_once(key_rig: Rig, broker: PrivateBroker) -> None:
    tenant, url = await key_rig.tenant()
    keys, wrong = CountedKeys(), api_keys.new_key()
    broker.answer_no_more()
    config = uvicorn.Config(
        application(key_rig.settings.exchange, lambda: keys),
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
            assert keys.lookups == 1
    finally:
        server.should_exit = True
        await serving
        broker.answer()
