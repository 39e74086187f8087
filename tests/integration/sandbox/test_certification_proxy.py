"""The proxy in front of a real broker: what a client sees, and what the broker believes afterwards."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import aio_pika
import pytest
from aio_pika.abc import AbstractIncomingMessage

from app.broker.address import parse
from app.sandbox.certification.amqp_proxy import AmqpProxy
from app.sandbox.certification.deliveries import Delivery, Treatment
from app.sandbox.certification.evidence import Evidence
from app.sandbox.certification.tls import server_context
from app.settings import Settings
from tests.sdk_client.broker import BrokerAddress, logged_in
from tests.support.eventually import eventually

COUNT, PREFETCH, QUEUE = 200, 7, "proxied"
KEY = "mf_live_abc"


@asynccontextmanager
async def proxied(settings: Settings, directory: Path) -> AsyncIterator[tuple[AmqpProxy, str, str]]:
    """A proxy, and the URLs of the vhost directly and through it."""
    direct = parse(settings.rabbitmq_url).url(settings.rabbitmq_internal_vhost)
    parts = urlsplit(direct)
    proxy = AmqpProxy(parts.hostname or "", parts.port or 5672, Evidence(), present=lambda: (KEY, direct))
    await proxy.start(server_context(directory / "ca.pem"))
    login = parts.netloc.rpartition("@")[0]
    try:
        yield proxy, direct, urlunsplit(parts._replace(netloc=f"{login}@127.0.0.1:{proxy.port}"))
    finally:
        await proxy.stop()


async def publish(direct: str, count: int, size: int) -> None:
    async with await aio_pika.connect(direct) as connection:
        channel = await connection.channel()
        await channel.declare_queue(QUEUE, durable=True)
        for number in range(count):
            body = f"<odds_change number='{number}'/>".encode() + b" " * size
            await channel.default_exchange.publish(aio_pika.Message(body), QUEUE)


def number(body: bytes) -> int:
    return int(body.split(b"'")[1])


@pytest.mark.parametrize("size", [0, 200_000])  # a body in one frame, and in several
@pytest.mark.parametrize("multiple", [False, True])
async def test_what_is_withheld_blocks_nothing(
    private: Settings, tmp_path: Path, multiple: bool, size: int
) -> None:
    """With a prefetch limit, acknowledging one by one or several at once, in any order of treatments: the
    client gets the rest in order, repeated ones twice, and the broker has nothing left."""
    count = COUNT if not size else 20
    rng = random.Random(count)
    treatments = [
        rng.choice((Treatment.PASSED, Treatment.WITHHELD, Treatment.REPEATED)) for _ in range(count)
    ]
    expected = [
        index
        for index, treatment in enumerate(treatments)
        for _ in range({Treatment.PASSED: 1, Treatment.WITHHELD: 0, Treatment.REPEATED: 2}[treatment])
    ]
    got: list[int] = []
    async with proxied(private, tmp_path) as (proxy, direct, through):
        proxy.rule = lambda delivery: treatments[number(delivery.body)]
        await publish(direct, count, size)

        async def take(message: AbstractIncomingMessage) -> None:
            got.append(number(message.body))
            if not multiple or len(got) % 3 == 0 or len(got) == len(expected):
                await message.ack(multiple=multiple)

        async with await aio_pika.connect(through) as connection:
            channel = await connection.channel()
            await channel.set_qos(PREFETCH)
            await (await channel.declare_queue(QUEUE, durable=True)).consume(take)
            assert await eventually(lambda: list(got), lambda found: len(found) == len(expected)) == expected
            await eventually(lambda: proxy.unacknowledged, lambda left: left == 0)
        async with await aio_pika.connect(direct) as connection:  # what was unacknowledged is there again
            left = await (await connection.channel()).declare_queue(QUEUE, durable=True, passive=True)
            assert left.declaration_result.message_count == 0


async def test_what_is_held_comes_when_it_is_released(private: Settings, tmp_path: Path) -> None:
    got: list[int] = []
    async with proxied(private, tmp_path) as (proxy, direct, through):
        proxy.rule = lambda delivery: Treatment.HELD if number(delivery.body) % 2 else Treatment.PASSED
        await publish(direct, 10, 0)

        async def take(message: AbstractIncomingMessage) -> None:
            got.append(number(message.body))

        async with await aio_pika.connect(through) as connection:
            channel = await connection.channel()
            queue = await channel.declare_queue(QUEUE, durable=True)
            await queue.consume(take, no_ack=True)
            await eventually(lambda: len(got) + len(proxy.held), lambda found: found == 10)
            assert got == [0, 2, 4, 6, 8]

            def backwards(held: list[Delivery]) -> list[Delivery]:
                return held[::-1]

            proxy.release(backwards)
            await eventually(lambda: list(got), lambda found: found == [0, 2, 4, 6, 8, 9, 7, 5, 3, 1])


async def test_a_cut_connection_is_cut_on_both_sides(private: Settings, tmp_path: Path) -> None:
    async with proxied(private, tmp_path) as (proxy, _, through):
        connection = await aio_pika.connect(through)
        ended = asyncio.Event()
        connection.close_callbacks.add(lambda *_: ended.set())

        async def take(message: AbstractIncomingMessage) -> None:
            raise AssertionError("nothing was published")

        channel = await connection.channel()
        await (await channel.declare_queue(exclusive=True)).consume(take)
        await eventually(lambda: proxy.consuming, lambda count: count == 1)
        proxy.refusing = True
        proxy.cut()
        await asyncio.wait_for(ended.wait(), 10)
        await eventually(lambda: proxy.consuming, lambda count: count == 0)
        with pytest.raises(aio_pika.exceptions.AMQPError):
            await aio_pika.connect(through)


async def test_a_key_is_a_login_over_tls(private: Settings, tmp_path: Path) -> None:
    """As SDKs use it: an empty password, a vhost named by a number, and an exchange that .NET declares as it
    believes that it is. No other key is a login."""
    async with proxied(private, tmp_path) as (proxy, direct, _):
        address = BrokerAddress("127.0.0.1", proxy.tls_port, str(tmp_path / "ca.pem"))
        async with await aio_pika.connect(direct) as connection:
            channel = await connection.channel()
            await channel.declare_exchange("oddinfeed", aio_pika.ExchangeType.TOPIC, durable=True)
        async with logged_in(address, KEY, "/oddinfeed/53") as client:
            channel = await client.channel()
            exchange = await channel.declare_exchange("oddinfeed", aio_pika.ExchangeType.FANOUT)
            queue = await channel.declare_queue(exclusive=True)
            await queue.bind("oddinfeed", "#")
            await exchange.publish(aio_pika.Message(b"<alive/>"), "-.-.-.alive.-.-.-.-")
            message = await queue.get(timeout=10)
            assert message is not None and message.body == b"<alive/>"
        with pytest.raises(aio_pika.exceptions.AMQPError):
            async with logged_in(address, f"{KEY}x", private.rabbitmq_internal_vhost):
                raise AssertionError("another key is a login")
