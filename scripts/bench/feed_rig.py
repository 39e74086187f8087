"""What the feed's latency is measured on: the service's processes, tenants, consumers."""

import asyncio
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import uuid4

import aio_pika
import httpx
import msgspec
from pamqp import commands

from app.amqp.connection import PublisherConnection, connect
from app.broker import provisioning
from app.broker.address import parse
from app.broker.management import Management
from app.domain.tenant import Tenant
from app.settings import Settings
from app.store import tenants
from app.store.connections import Store
from scripts.lab.operators import Operators
from scripts.lab.own_data import operator_key
from scripts.lab.service import is_healthy
from scripts.local_services import ports

ROOT = Path(__file__).resolve().parents[2]
_ARRIVED = b"\x0cx-arrived-atl"
_COMPLETE = b"snapshot_complete"
_MATCH = b"od:match."  #: before a match's number in a routing key
_REST = 1024  #: bytes of one read that may belong to an envelope's routing key and headers in the next


class Consumer(asyncio.Protocol):
    """A tenant's queue, read as bytes: how long (ms) after its log lines came each envelope was here, and
    `causes`: the number of its match, and when those lines came (Unix ms)."""

    def __init__(self) -> None:
        self.delays: list[int] = []
        self.causes: list[tuple[bytes, int]] = []
        self.received = 0  #: bytes, whatever they are
        self.complete = asyncio.Event()
        self._rest = b""
        self._connection: PublisherConnection | None = None

    async def listen(self, connection: PublisherConnection, exchange: str, *, no_ack: bool = True) -> None:
        """Have everything sent to a queue that goes with the connection, and read what comes from now on
        ourselves: nothing else is cheap enough for so many copies."""
        declared = await connection.call(commands.Queue.Declare(exclusive=True), commands.Queue.DeclareOk)
        bind = commands.Queue.Bind(queue=declared.queue, exchange=exchange, routing_key="#")
        await connection.call(bind, commands.Queue.BindOk)
        consume = commands.Basic.Consume(queue=declared.queue, no_ack=no_ack)
        await connection.call(consume, commands.Basic.ConsumeOk)
        self._connection = connection
        assert connection._transport
        connection._transport.set_protocol(self)

    def data_received(self, data: bytes) -> None:
        assert self._connection
        self._connection._received_at = asyncio.get_running_loop().time()
        now = time.time_ns() // 1_000_000
        self.received += len(data)
        data, at = self._rest + data, 0
        while (found := data.find(_ARRIVED, at)) >= 0 and found + len(_ARRIVED) + 8 <= len(data):
            number = data.rfind(_MATCH, at, found) + len(_MATCH)
            at = found + len(_ARRIVED) + 8
            arrived = int.from_bytes(data[at - 8 : at])
            self.delays.append(now - arrived)
            self.causes.append((data[number : data.find(b".", number)], arrived))
        if _COMPLETE in data:
            self.complete.set()
        self._rest = data[max(at, len(data) - _REST) :]

    # The connection's own interface, as far as the handshake asks for it.
    def confirmed(self, tag: int, multiple: bool) -> None: ...

    def rejected(self, tag: int, multiple: bool) -> None: ...

    def unblocked(self) -> None: ...


class Rig(msgspec.Struct):
    """`consumers` are the tenants', in their order; `probe` measures the broker alone; `pids` are the
    service's processes, by command."""

    store: Store
    tenants: list[Tenant]
    consumers: list[Consumer]
    operators: Operators
    probe: "Probe"
    pids: dict[str, int]


class Probe:
    """The reference: a bare message to a tenant's vhost and back, as long as the rest is measured. One is due
    every twentieth of a second, and its delay counts from then on, however long the one before it took."""

    def __init__(self, url: str) -> None:
        self.delays: list[float] = []
        self._url = url

    async def run(self) -> None:
        async with await aio_pika.connect(self._url) as connection:
            channel = await connection.channel()
            queue = await channel.declare_queue(exclusive=True)
            async with queue.iterator(no_ack=True) as messages:
                due = time.perf_counter()
                while True:
                    due += 0.05
                    await asyncio.sleep(max(0.0, due - time.perf_counter()))
                    await channel.default_exchange.publish(aio_pika.Message(b"x" * 2000), queue.name)
                    await anext(messages)
                    self.delays.append((time.perf_counter() - due) * 1000)


@asynccontextmanager
async def processes(settings: Settings) -> AsyncIterator[tuple[str, dict[str, int]]]:
    """The service's three processes; the web process' address, and the ids of all by command."""
    values = {name.upper(): str(value) for name, value in msgspec.structs.asdict(settings).items()}
    [port] = ports.free_ports([0])
    commands = (("serve", "--port", str(port)), ("ingest",), ("feed",))
    started = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app.cli", *command),
            cwd=ROOT,
            env={**os.environ, **values, "LOG_LEVEL": "ERROR"},
        )
        for command in commands
    ]
    try:
        pids = {command[0]: process.pid for command, process in zip(commands, started, strict=True)}
        yield f"http://127.0.0.1:{port}", pids
    finally:
        for process in started:
            process.terminate()
        await asyncio.gather(*(process.wait() for process in started))


@asynccontextmanager
async def rigged(settings: Settings, store: Store, count: int) -> AsyncIterator[Rig]:
    """`count` tenants that the feed publishes to, each with a consumer."""
    async with AsyncExitStack() as stack:
        management = await stack.enter_async_context(Management(settings.rabbitmq_api_url))
        tenants = [await _tenant(settings, store, management, stack) for _ in range(count)]
        base_url, pids = await stack.enter_async_context(processes(settings))
        key = await operator_key(settings, store)
        operators = Operators(base_url, key)
        stack.push_async_callback(operators.close)
        await answering(operators.http)
        consumers = [await _listening(settings, each.slug, stack) for each in tenants]
        probe = Probe(parse(settings.rabbitmq_url).url(tenants[0].slug))
        task = asyncio.create_task(probe.run())
        stack.callback(task.cancel)
        yield Rig(store, tenants, consumers, operators, probe, pids)


async def answering(client: httpx.AsyncClient) -> None:
    """Wait until the service is healthy: every process has started, and publishes to every tenant."""
    async with asyncio.timeout(120):
        while not await is_healthy(client):
            await asyncio.sleep(0.2)


async def provisioned(
    settings: Settings, store: Store, management: Management, stack: AsyncExitStack
) -> tuple[str, str]:
    """A new tenant with a vhost, which goes when the stack ends; its slug and its AMQP URL."""
    slug = f"b{secrets.token_hex(5)}"
    broker = parse(settings.rabbitmq_url)
    url = await provisioning.provision(
        management,
        slug,
        settings.exchange,
        settings.rabbitmq_public_host,
        mode=settings.broker_authorisation,
        broker=broker,
    )
    stack.push_async_callback(provisioning.deprovision, management, slug)
    async with store.transaction() as tx:
        await tenants.insert(tx, Tenant(uuid4(), slug, slug, amqp=True), 0)
    return slug, url


async def _tenant(settings: Settings, store: Store, management: Management, stack: AsyncExitStack) -> Tenant:
    slug, _ = await provisioned(settings, store, management, stack)
    async with store.autocommit() as tx:
        return await tenants.by_slug(tx, slug)


async def _listening(settings: Settings, slug: str, stack: AsyncExitStack) -> Consumer:
    consumer = Consumer()
    broker = parse(settings.rabbitmq_url)
    connection = await connect(broker, slug, "bench", settings.exchange, consumer)
    stack.callback(connection.abort, "done")
    await consumer.listen(connection, settings.exchange)
    return consumer
