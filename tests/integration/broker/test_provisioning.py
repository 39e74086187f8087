"""What a tenant may do in its corner of the broker, and what it may not."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aio_pika
import pytest
from aio_pika.abc import AbstractChannel
from aio_pika.exceptions import AMQPError

from app.broker import provisioning
from app.broker.address import parse
from app.broker.management import Management
from app.kit.errors import Conflict, Unavailable
from scripts.services import Services

pytestmark = pytest.mark.anyio
EXCHANGE = "oddsfeed"


class Corner:
    """Provisions tenants and takes them away again."""

    def __init__(self, management: Management, services: Services) -> None:
        self.management = management
        self.broker = parse(services.rabbitmq_url)
        self.host = services.environment()["RABBITMQ_PUBLIC_HOST"]
        self.slugs: set[str] = set()

    async def provision(self, slug: str) -> str:
        self.slugs.add(slug)
        return await provisioning.provision(self.management, slug, EXCHANGE, self.host, broker=self.broker)


@pytest.fixture
async def corner(management: Management, services: Services) -> AsyncIterator[Corner]:
    corner = Corner(management, services)
    yield corner
    for slug in corner.slugs:
        await provisioning.withdraw(management, slug)


@pytest.fixture
def slug() -> str:
    return f"t{secrets.token_hex(5)}"


@asynccontextmanager
async def channel(url: str) -> AsyncIterator[AbstractChannel]:
    async with await aio_pika.connect(url, timeout=5) as connection:
        yield await connection.channel()


async def test_the_tenant_binds_and_consumes_what_we_publish(corner: Corner, slug: str) -> None:
    url = await corner.provision(slug)
    async with channel(url) as theirs, channel(corner.broker.url(slug)) as ours:
        queue = await theirs.declare_queue(exclusive=True)
        await queue.bind(EXCHANGE, "#")
        named = await theirs.declare_queue(f"{slug}.settlements", durable=True)
        await named.bind(EXCHANGE, "*.*.*.bet_settlement.#")
        exchange = await ours.get_exchange(EXCHANGE)
        await exchange.publish(aio_pika.Message(b"<a/>"), "hi.-.live.bet_settlement.2.od:match.1.-")
        assert (await queue.get()).body == (await named.get()).body == b"<a/>"


async def test_the_tenant_cannot_publish_or_touch_what_is_ours(corner: Corner, slug: str) -> None:
    url = await corner.provision(slug)
    for forbidden in (
        lambda it: it.default_exchange.publish(aio_pika.Message(b"x"), "somewhere"),
        lambda it: it.exchange_delete(EXCHANGE),
        lambda it: it.declare_exchange("another", "topic"),
        lambda it: it.declare_queue("foreign"),
        lambda it: it.declare_exchange(EXCHANGE, "topic", durable=True),
    ):
        with pytest.raises(AMQPError, match="ACCESS_REFUSED"):
            async with channel(url) as theirs:
                await forbidden(theirs)


async def test_the_tenant_cannot_publish_to_the_feed(corner: Corner, slug: str) -> None:
    async with channel(await corner.provision(slug)) as theirs:
        exchange = await theirs.get_exchange(EXCHANGE, ensure=False)
        with pytest.raises(AMQPError, match="ACCESS_REFUSED"):
            await exchange.publish(aio_pika.Message(b"<forged/>"), "hi.-.live.odds_change.2.od:match.1.-")


async def test_no_other_vhost_lets_the_tenant_in(corner: Corner, slug: str) -> None:
    url = await corner.provision(slug)
    await corner.provision(other := f"{slug}x")
    for vhost in (other, "%2F"):
        with pytest.raises(AMQPError):
            async with channel(url.rpartition("/")[0] + f"/{vhost}"):
                pass


async def test_provisioning_again_makes_a_new_password_and_keeps_the_queues(
    corner: Corner, slug: str
) -> None:
    first = await corner.provision(slug)
    async with channel(first) as theirs:
        await theirs.declare_queue(f"{slug}.mine", durable=True)
    second = await corner.provision(slug)
    assert first != second
    async with channel(second) as theirs:
        await theirs.declare_queue(f"{slug}.mine", durable=True, passive=True)
    with pytest.raises(AMQPError):
        async with channel(first):
            pass


async def test_limits_hold(corner: Corner, slug: str) -> None:
    url = await corner.provision(slug)
    async with channel(url) as theirs:
        for number in range(10):
            await theirs.declare_queue(f"{slug}.{number}")
    with pytest.raises(AMQPError, match="queue limit"):
        async with channel(url) as theirs:
            await theirs.declare_queue(f"{slug}.one-too-many")
    async with channel(url) as theirs:
        policies = await corner.management.queues(slug)
        assert len(policies) == 10
        for number in range(10):
            await theirs.queue_delete(f"{slug}.{number}")


async def test_a_withdrawn_tenant_is_out_at_once(corner: Corner, slug: str) -> None:
    url = await corner.provision(slug)
    connection = await aio_pika.connect(url)
    out = asyncio.Event()
    connection.close_callbacks.add(lambda *_: out.set())
    await provisioning.withdraw(corner.management, slug)
    async with asyncio.timeout(5):
        await out.wait()
    with pytest.raises(AMQPError):
        async with channel(url):
            pass
    assert slug not in await corner.management.vhosts()


async def test_a_slug_that_cannot_name_a_vhost_is_refused(management: Management) -> None:
    for slug in ("", "a", "UPPER", "a/b", "-a", "a" * 32, ".*"):
        with pytest.raises(Conflict):
            await provisioning.provision(management, slug, EXCHANGE, "127.0.0.1")


async def test_what_is_missing_is_said_in_one_line(services: Services) -> None:
    broker = parse(services.rabbitmq_url)
    for url, words in (
        ("http://guest:guest@127.0.0.1:1", "does not answer"),
        (f"http://guest:guest@{broker.host}:{broker.port}", "does not answer"),
        (services.rabbitmq_api_url.replace(broker.password, "wrong", 1), "refuses our login"),
    ):
        async with Management(url) as management:
            with pytest.raises(Unavailable, match=words) as refusal:
                await management.check()
            assert "RABBITMQ_API_URL" in str(refusal.value)
            assert "\n" not in str(refusal.value)
