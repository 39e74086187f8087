"""What `vhosts` measures on: a broker of three nodes, a feed process, tenants as the product provisions them,
and a client for each."""

import asyncio
import os
import random
import secrets
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from decimal import Decimal
from typing import Self
from uuid import uuid4

import msgspec
import psutil
from pamqp import commands

from app.access import admin
from app.access.admin import BrokerConfig
from app.amqp.connection import BrokerError, PublisherConnection, _handshake, connect
from app.broker.address import Address, Node, parse
from app.broker.management import Management
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Status, summarize
from app.kit.clock import system_clock
from app.kit.errors import Unavailable
from app.settings import Settings
from app.store import changes, matches
from app.store.changes import ChangeDraft
from app.store.connections import Store
from scripts.bench.feed_rig import ROOT, Consumer
from scripts.lab import brokers, record
from scripts.lab.hosts import BROKERS
from scripts.lab.record import HOME, Record
from scripts.local_services.processes import ServiceError, find

_SEQ = b"\x05x-seq"
_SIZES = {b"b": 1, b"s": 2, b"I": 4, b"l": 8}  #: bytes of an integer, by its type
_POLL_SECONDS, _LOGIN_SECONDS = 0.1, 10.0
_encode = msgspec.json.encode


class Cluster:
    """Three nodes on addresses of loopback, with an empty broker at first."""

    def __init__(self) -> None:
        if record.load():
            raise ServiceError("a cluster is there already; ./scripts/cluster --stop ends it")
        passwords = {"rabbitmq": secrets.token_urlsafe(24), "cookie": secrets.token_urlsafe(24)}
        shutil.rmtree(HOME, ignore_errors=True)
        self._record = Record(separate=False, passwords=passwords)
        self._record.save()

    @property
    def settings(self) -> dict[str, str]:
        """The service's settings that lead to it."""
        made = brokers.node(self._record.hosts, BROKERS[0])
        public_host = f"{made.address}:{made.amqp}"
        return {**brokers.settings(self._record), "RABBITMQ_PUBLIC_HOST": public_host}

    def address(self, host: str) -> str:
        return self._record.hosts.address(host)

    def begin(self, hosts: Sequence[str] = BROKERS) -> None:
        """Start these nodes; nothing is waited for."""
        for host in hosts:
            brokers.begin(self._record, host, self.settings, print)

    def kill(self, hosts: Sequence[str] = BROKERS) -> None:
        """Kill them, as at once as may be."""
        for host in hosts:
            self._record.kill(host)

    def resident(self) -> int:
        """Bytes of memory of the nodes' own processes."""
        started = [each for each in self._record.processes if each.name.endswith("/rabbitmq")]
        nodes = [process for each in started if (process := find(each))]
        return sum(process.memory_info().rss for process in nodes)

    def end(self) -> None:
        self._record.end(list(self._record.processes))
        record.remove()


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A cluster that is ended with the block."""
    made = Cluster()
    try:
        yield made
    finally:
        made.end()


async def serving(settings: Settings, address: str, vhost: str) -> None:
    """Wait until a node's management API answers, and a login of ours to this vhost works there."""
    login = parse(settings.rabbitmq_url)
    here = msgspec.structs.replace(login, nodes=tuple(each for each in login.nodes if each.host == address))
    credentials, _, listed = settings.rabbitmq_api_url.rpartition("@")
    url = f"{credentials}@" + next(each for each in listed.split(",") if each.startswith(f"{address}:"))
    async with Management(url) as management:
        while True:
            with suppress(Unavailable, BrokerError, OSError):
                await management.check()
                connection = await connect(here, vhost, "bench", settings.exchange, Consumer())
                await connection.close()
                return
            await asyncio.sleep(_POLL_SECONDS)


async def provision(settings: Settings, store: Store, count: int) -> dict[str, Address]:
    """So many new tenants with vhosts; where each logs in."""
    broker = parse(settings.rabbitmq_url)
    found = {}
    async with Management(settings.rabbitmq_api_url) as management:
        host, mode = settings.rabbitmq_public_host, settings.broker_authorisation
        config = BrokerConfig(management, settings.exchange, host, mode, broker)
        for _ in range(count):
            slug = f"b{secrets.token_hex(5)}"
            async with store.transaction() as tx:
                await admin.create_tenant(tx, slug, slug, by="bench", now=system_clock())
            url = await admin.provision_amqp(store, slug, config, by="bench", now=system_clock())
            found[slug] = msgspec.structs.replace(parse(url), nodes=broker.nodes)
    return found


class Receiver(Consumer):
    """Bytes of a tenant's queue: `seq` is the highest number in them, `lost` is set when the connection
    ends."""

    def __init__(self) -> None:
        super().__init__()
        self.seq = 0
        self.lost = asyncio.Event()
        self._tail = b""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        data = self._tail + data
        at = data.rfind(_SEQ, 0, len(data) - 9)
        if at >= 0:
            start = at + len(_SEQ)
            size = _SIZES[data[start : start + 1]]
            self.seq = max(self.seq, int.from_bytes(data[start + 1 : start + 1 + size]))
        self._tail = data[-64:]

    def connection_lost(self, error: Exception | None) -> None:
        if self._connection:
            self._connection.connection_lost(error)
        self.lost.set()


class Client:
    """One tenant's client, connected to one of the nodes, again whenever it loses its connection. It has a
    queue of its own, deleted with the connection, which receives everything."""

    def __init__(self, slug: str, address: Address, exchange: str) -> None:
        self.receiver = Receiver()
        self.node: Node | None = None  #: that of its connection, or which it tries
        self._slug, self._address, self._exchange = slug, address, exchange
        self._connection: PublisherConnection | None = None

    async def run(self) -> None:
        try:
            while True:
                with suppress(BrokerError, OSError, TimeoutError):
                    await self._listen()
                    await self.receiver.lost.wait()
                await asyncio.sleep(_POLL_SECONDS)
        finally:
            self._abort()

    async def _listen(self) -> None:
        self._abort()
        receiver = Receiver()
        receiver.seq = self.receiver.seq
        connection = self._connection = await self._connected(receiver)
        self.receiver = receiver
        await receiver.listen(connection, self._exchange)

    async def _connected(self, receiver: Receiver) -> PublisherConnection:
        """Logged in as the tenant, at any node that answers; unlike ours, it may not declare the exchange."""
        self.node = node = random.choice(self._address.nodes)
        async with asyncio.timeout(_LOGIN_SECONDS):
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: PublisherConnection(receiver), node.host, node.port
            )
            try:
                await _handshake(connection, self._address, self._slug, "bench")
                await connection.call(commands.Channel.Open(), commands.Channel.OpenOk)
            except BaseException:
                connection.abort("the handshake failed")
                raise
        return connection

    def _abort(self) -> None:
        if self._connection:
            self._connection.abort("done")


class Changes:
    """Odds of one match that change at intervals: `committed` is the number of the last change."""

    def __init__(self, store: Store, match: Match, every: float) -> None:
        self.committed = 0
        self._store, self._match, self._every = store, match, every

    @classmethod
    async def of_new_match(cls, store: Store, every: float) -> Self:
        async with store.transaction() as tx:
            number = await matches.next_number(tx)
            match = Match(uuid4(), number, "Northwind", "Harbour", "Bench Cup", status=Status.LIVE)
            await matches.insert(tx, match)
        return cls(store, match, every)

    async def run(self) -> None:
        times = 0
        while True:
            times += 1
            odds = Decimal(101 + times % 900) / 100
            market = Market(13, "map=1|round=1|team=home", MarketStatus.ACTIVE, odds, float(1 / odds))
            drafts = [
                ChangeDraft(
                    "match",
                    str(self._match.id),
                    "match.updated",
                    "odds_change",
                    _encode(summarize(self._match)),
                ),
                ChangeDraft("market", market.specifiers, "market.updated", "odds_change", _encode(market)),
            ]
            async with self._store.transaction() as tx:
                written = await changes.append(tx, self._match, drafts, time.time_ns() // 1_000_000)
            self.committed = written.last_seq
            await asyncio.sleep(self._every)


@asynccontextmanager
async def feed(settings: Settings) -> AsyncIterator[psutil.Process]:
    """A feed process; there is no ingest, and it does not mind."""
    values = {name.upper(): str(value) for name, value in msgspec.structs.asdict(settings).items()}
    log = HOME / "log" / "feed.log"
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app.cli", "feed"),
            cwd=ROOT,
            env={**os.environ, **values, "INGEST_DEAD_SECONDS": "86400"},
            stdout=output,
            stderr=output,
        )
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def clients(tenants: dict[str, Address], exchange: str) -> AsyncIterator[list[Client]]:
    """A client for each tenant."""
    made = [Client(slug, address, exchange) for slug, address in tenants.items()]
    tasks = [asyncio.create_task(each.run()) for each in made]
    try:
        yield made
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
