"""Copies a second to many tenants: ours, FastStream and aio-pika publishing the same bodies.

    python -m scripts.bench.feed [--tenants 1 10 50] [--copies 20000] [--plot docs/feed-copies.svg]

Each way publishes persistent messages with confirms to the same vhosts, in turn, in one run; a copy counts
when it lies in the tenant's queue. Uses the servers that the settings lead to, or starts its own
(`scripts/services.py`). Ratios within one run hold; absolute figures belong to the machine.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import UUID, uuid4

import aio_pika
import msgspec
from faststream.rabbit import ExchangeType, RabbitBroker, RabbitExchange
from matplotlib import pyplot

from app import settings as configuration
from app.amqp.connection import connect
from app.amqp.envelope import Envelope
from app.amqp.frames import AmqpMessage, marshal
from app.amqp.lease import LeaseDeadline
from app.amqp.loss_notice import LossNotice
from app.amqp.publishers import FeedPublishers, RecentEnvelopes
from app.amqp.tenant_publisher import TenantPublisher
from app.broker.address import Address, parse
from app.broker.management import Management
from app.domain.tenant_offer import NO_CHANGES, TenantOffer
from app.store.cursors import LeasedTenant
from scripts import services
from scripts.lab.own_data import vhost
from scripts.svg import save

EXCHANGE = "oddsfeed"
KEY = "hi.-.live.odds_change.2.od:match.4711.-"
BODY = b'<odds_change product="2">' + b'<market id="13" status="1"/>' * 72 + b"</odds_change>"
MATCH = UUID(int=1)


class Figure(msgspec.Struct, frozen=True):
    """What one way reached: copies a second, and microseconds of our processor a copy."""

    way: str
    tenants: int
    rate: float
    cpu: float


Publish = Callable[[int], Awaitable[None]]  #: publish so many envelopes to every tenant, until all confirmed


def plain_envelope(seq: int) -> Envelope:
    """An envelope with the body that all ways publish."""
    headers: dict[str, int | str] = {"x-seq": seq, "x-prev-seq": seq - 1}
    message = AmqpMessage(EXCHANGE, KEY, BODY, f"mf-{seq}", time.time_ns() // 1_000_000, headers)
    return Envelope(seq, seq - 1, MATCH, 0, "odds_change", message, marshal(message))


@asynccontextmanager
async def ours(
    broker: Address,
    vhosts: list[str],
    envelope: Callable[[int], Envelope] = plain_envelope,
    offers: Sequence[TenantOffer] = (NO_CHANGES,),
) -> AsyncIterator[Publish]:
    """Our publishers; the tenants have these offers in turn."""
    feed, recent, lease = FeedPublishers(EXCHANGE), RecentEnvelopes(0), LeaseDeadline(3_600_000)
    lease.renewed(lease.now())
    confirmed = asyncio.Event()

    def moved(publisher: TenantPublisher) -> None:
        """Save the cursor in our own memory once half a window is used up, as the relay does."""
        if publisher.unsaved >= 32 or publisher.cursor == recent.head:
            publisher.checkpointed(publisher.cursor)
        confirmed.set()

    leased = [LeasedTenant(uuid4(), vhost, vhost, 0, 1) for vhost in vhosts]
    publishers = [
        TenantPublisher(
            each,
            LossNotice(each, 3600.0),
            window=64,
            lease=lease,
            recent=recent,
            is_booked=lambda *_: True,
            request_backlog=lambda _: None,
            cursor_moved=moved,
        )
        for each in leased
    ]
    connections = [await connect(broker, each.slug, "bench", EXCHANGE, each) for each in publishers]
    for place, (publisher, connection) in enumerate(zip(publishers, connections, strict=True)):
        publisher.offer = offers[place % len(offers)]
        publisher.attach(connection)

    async def publish(count: int) -> None:
        for _ in range(count):
            seq = recent.head + 1
            await feed.live(envelope(seq), recent)
            for publisher in publishers:
                publisher.pump()
            while any(publisher.sent < seq - 64 for publisher in publishers):
                confirmed.clear()
                await confirmed.wait()
        while any(publisher.cursor < recent.head for publisher in publishers):
            confirmed.clear()
            await confirmed.wait()

    yield publish
    for connection in connections:
        await connection.close()


@asynccontextmanager
async def faststream(broker: Address, vhosts: list[str]) -> AsyncIterator[Publish]:
    brokers = [RabbitBroker(broker.url(vhost), logger=None) for vhost in vhosts]
    exchange = RabbitExchange(EXCHANGE, ExchangeType.TOPIC, durable=True, declare=False)
    await asyncio.gather(*(each.connect() for each in brokers))

    yield in_flight(
        brokers,
        lambda each, seq: each.publish(
            BODY,
            exchange=exchange,
            routing_key=KEY,
            mandatory=False,
            persist=True,
            content_type="application/xml",
            message_id=f"mf-{seq}",
            headers={"x-seq": seq, "x-prev-seq": seq - 1},
        ),
    )
    for each in brokers:
        await each.stop()


@asynccontextmanager
async def aiopika(broker: Address, vhosts: list[str]) -> AsyncIterator[Publish]:
    connections = await asyncio.gather(*(aio_pika.connect(broker.url(vhost)) for vhost in vhosts))
    channels = [await connection.channel() for connection in connections]
    exchanges = [await channel.get_exchange(EXCHANGE) for channel in channels]

    yield in_flight(
        exchanges,
        lambda each, seq: each.publish(
            aio_pika.Message(
                BODY,
                content_type="application/xml",
                delivery_mode=2,
                message_id=f"mf-{seq}",
                headers={"x-seq": seq, "x-prev-seq": seq - 1},
            ),
            KEY,
            mandatory=False,
        ),
    )
    for connection in connections:
        await connection.close()


def in_flight(senders: list, send: Callable) -> Publish:  # type: ignore[type-arg]
    """Publish to every sender, with up to 64 unconfirmed each, as ours has."""

    async def one(sender: object, count: int) -> None:
        room = asyncio.Semaphore(64)

        async def copy(seq: int) -> None:
            await send(sender, seq)
            room.release()

        async with asyncio.TaskGroup() as group:
            for seq in range(count):
                await room.acquire()
                group.create_task(copy(seq))

    async def publish(count: int) -> None:
        await asyncio.gather(*(one(sender, count) for sender in senders))

    return publish


Way = Callable[[Address, list[str]], AbstractAsyncContextManager[Publish]]
WAYS: dict[str, Way] = {"ours": ours, "faststream": faststream, "aio-pika": aiopika}


async def measure(name: str, way: Way, broker: Address, vhosts: list[str], copies: int) -> Figure:
    """One way's figure; raises when a copy is missing at the end."""
    async with AsyncExitStack() as stack:
        queues = []
        for vhost in vhosts:
            watcher = await stack.enter_async_context(await aio_pika.connect(broker.url(vhost)))
            channel = await watcher.channel()
            queue = await channel.declare_queue(exclusive=True)
            await queue.bind(EXCHANGE, "#")
            queues.append((channel, queue.name))
        publish = await stack.enter_async_context(way(broker, vhosts))
        each = max(1, copies // len(vhosts))
        began, cpu = time.perf_counter(), time.process_time()
        await publish(each)
        seconds, used = time.perf_counter() - began, time.process_time() - cpu
        depths = [
            (await channel.declare_queue(name, passive=True)).declaration_result.message_count
            for channel, name in queues
        ]
    if depths != [each] * len(vhosts):
        raise SystemExit(
            f"{name}: {sum(depth or 0 for depth in depths)} copies arrived of {each * len(vhosts)}"
        )
    total = each * len(vhosts)
    return Figure(name, len(vhosts), total / seconds, used / total * 1e6)


def draw(everything: list[Figure], path: Path) -> None:
    """Two panels, one line a way: copies a second, and microseconds of our processor a copy, by tenants."""
    figure, panels = pyplot.subplots(1, 2, figsize=(9.6, 4))
    labels = {"rate": "copies a second, confirmed", "cpu": "microseconds of our processor a copy"}
    for axes, (name, label) in zip(panels, labels.items(), strict=True):
        for way in WAYS:
            found = [each for each in everything if each.way == way]
            tenants, values = [each.tenants for each in found], [getattr(each, name) for each in found]
            axes.plot(tenants, values, marker="o", markersize=3, label=way)
        axes.set(xlabel="tenants", ylabel=label, xscale="log", ylim=(0, None))
    panels[0].legend()
    save(figure, path)


async def main(tenants: list[int], copies: int, plot: Path | None) -> None:
    loaded = configuration.load()
    broker = parse(loaded.rabbitmq_url)
    async with Management(loaded.rabbitmq_api_url) as management, AsyncExitStack() as stack:
        vhosts = [await stack.enter_async_context(vhost(management)) for _ in range(max(tenants))]
        for each in vhosts:
            await management.put_exchange(each, EXCHANGE, "topic")
        print(f"bodies of {len(BODY)} bytes; one run, every copy confirmed and counted in its queue")
        print(f"{'tenants':>8} {'way':>12} {'copies/s':>10} {'us of CPU a copy':>18} {'to ours':>8}")
        everything: list[Figure] = []
        for count in tenants:
            figures = [await measure(name, way, broker, vhosts[:count], copies) for name, way in WAYS.items()]
            everything += figures
            for figure in figures:
                told_as = f"{count:>8} {figure.way:>12} {figure.rate:>10.0f} {figure.cpu:>18.1f}"
                print(f"{told_as} {figures[0].rate / figure.rate:>7.1f}x", flush=True)
    if plot:
        draw(everything, plot)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tenants", type=int, nargs="+", default=[1, 10, 50])
    parser.add_argument("--copies", type=int, default=20_000, help="copies that each way publishes")
    parser.add_argument("--plot", type=Path, help="draw the figures here, as SVG")
    chosen = parser.parse_args()
    with services.running(services.BENCHMARKS):
        asyncio.run(main(chosen.tenants, chosen.copies, chosen.plot))
