"""What a tenant may do at the broker, and what it may not."""

import asyncio
from contextlib import AsyncExitStack

import aio_pika
import pytest
from aio_pika.exceptions import AMQPError

from app.broker import provisioning
from app.broker.address import Address
from app.broker.connection import open_connection
from app.broker.management import Management
from app.kit.errors import Conflict, Unavailable
from scripts.services import Services
from tests.integration.broker.conftest import EXCHANGE, Provision
from tests.support.eventually import eventually
from tests.support.meanwhile import ended
from tests.support.tenants import channel


async def test_the_tenant_binds_and_consumes_what_we_publish(
    provision: Provision, broker: Address, slug: str
) -> None:
    url = await provision()
    async with channel(url) as theirs, channel(broker.url(slug)) as ours:
        queue = await theirs.declare_queue(exclusive=True)
        await queue.bind(EXCHANGE, "#")
        named = await theirs.declare_queue(f"{slug}.settlements", durable=True)
        await named.bind(EXCHANGE, "*.*.*.bet_settlement.#")
        exchange = await ours.get_exchange(EXCHANGE)
        await exchange.publish(aio_pika.Message(b"<a/>"), "hi.-.live.bet_settlement.2.od:match.1.-")
        assert (await queue.get()).body == (await named.get()).body == b"<a/>"


async def test_provisioning_again_sets_a_new_password_and_leaves_the_queues(
    provision: Provision, slug: str
) -> None:
    first = await provision()
    async with channel(first) as theirs:
        await theirs.declare_queue(f"{slug}.mine", durable=True)
    second = await provision()
    assert first != second
    async with channel(second) as theirs:
        await theirs.declare_queue(f"{slug}.mine", durable=True, passive=True)
    with pytest.raises(AMQPError):
        async with channel(first):
            pass


async def test_limits_hold(provision: Provision, management: Management, slug: str) -> None:
    url = await provision()
    async with channel(url) as theirs:
        for number in range(10):
            await theirs.declare_queue(f"{slug}.{number}")
    with pytest.raises(AMQPError, match="queue limit"):
        async with channel(url) as theirs:
            await theirs.declare_queue(f"{slug}.one-too-many")
    async with channel(url) as theirs:
        queues = await management.queues(slug)
        assert len(queues) == 11, "ten of the tenant's, and that of its losses"
        for number in range(10):
            await theirs.queue_delete(f"{slug}.{number}")


async def test_an_eleventh_connection_is_refused(provision: Provision) -> None:
    url = await provision()
    async with AsyncExitStack() as stack:
        for _ in range(provisioning.USER_LIMITS["max-connections"]):
            await stack.enter_async_context(open_connection(url, 5))
        with pytest.raises(AMQPError):
            async with open_connection(url, 5):
                pass


async def test_channels_beyond_two_hundred_are_refused(provision: Provision) -> None:
    async with open_connection(await provision(), 5) as connection:
        with pytest.raises(AMQPError, match="number of channels"):
            for _ in range(provisioning.USER_LIMITS["max-channels"] + 1):
                await connection.channel()


async def test_what_queues_lose_is_counted_and_what_clients_reject_is_not(
    provision: Provision, broker: Address, slug: str
) -> None:
    url = await provision()
    async with channel(url) as theirs, channel(broker.url(slug)) as ours:
        small = await theirs.declare_queue(f"{slug}.small", arguments={"x-max-length": 2}, auto_delete=True)
        short = await theirs.declare_queue(f"{slug}.ttl", arguments={"x-message-ttl": 1}, auto_delete=True)
        plain = await theirs.declare_queue(exclusive=True)
        for queue in (small, short, plain):
            await queue.bind(EXCHANGE, "#")
        exchange = await ours.get_exchange(EXCHANGE)
        for _ in range(5):
            await exchange.publish(aio_pika.Message(b"<a/>"), "hi.-.live.odds_change.2.od:match.1.-")
        for _ in range(5):
            await (await plain.get()).reject()

        async def lost() -> int:
            queue = await ours.declare_queue(provisioning.LOST, passive=True)
            return queue.declaration_result.message_count or 0

        assert await eventually(lost, lambda count: count >= 8) == 8


async def test_declaring_the_topology_again_changes_nothing(
    provision: Provision, management: Management, slug: str
) -> None:
    await provision()
    before = await management.queues(slug)
    await provisioning.declare_topology(management, slug, EXCHANGE)
    assert [each.name for each in await management.queues(slug)] == [each.name for each in before]


async def test_a_deprovisioned_tenant_is_disconnected_at_once(
    provision: Provision, management: Management, slug: str
) -> None:
    url = await provision()
    async with open_connection(url, 5) as connection:
        over = ended(connection)
        await provisioning.deprovision(management, slug)
        await asyncio.wait_for(over.wait(), 60)
    with pytest.raises(AMQPError):
        async with channel(url):
            pass
    assert slug not in await management.vhosts()


async def test_a_slug_that_cannot_name_a_vhost_is_refused(management: Management) -> None:
    for slug in ("", "a", "UPPER", "a/b", "-a", "a" * 32, ".*"):
        with pytest.raises(Conflict):
            await provisioning.provision(management, slug, EXCHANGE, "127.0.0.1", mode="http")


async def test_what_is_missing_is_reported_in_one_line(services: Services, broker: Address) -> None:
    for url, words in (
        ("http://guest:guest@127.0.0.1:1", "does not answer"),
        (f"http://guest:guest@{broker.nodes[0].host}:{broker.nodes[0].port}", "does not answer"),
        (services.rabbitmq_api_url.replace(broker.password, "wrong", 1), "refuses our login"),
    ):
        async with Management(url) as management:
            with pytest.raises(Unavailable, match=words) as refusal:
                await management.check()
            assert "RABBITMQ_API_URL" in str(refusal.value)
            assert "\n" not in str(refusal.value)
