"""A feed to be hurt: tenants, traffic, real feed processes, and consumers that remember what came."""

import asyncio
import contextlib
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from inspect import isawaitable
from pathlib import Path
from uuid import UUID, uuid4

import aio_pika
import msgspec
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage
from aio_pika.exceptions import AMQPError

from app.broker import provisioning
from app.broker.address import parse
from app.broker.connection import open_connection
from app.broker.management import Management
from app.channels.feed.process_watch import IngestWatchdog, RestWatch
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, summarize
from app.domain.tenant import NUMBERED_VHOST, Tenant
from app.settings import Settings
from app.store import changes, cursors, tenants
from app.store.changes import ChangeDraft
from app.store.connections import Store
from tests.support.databases import transactions
from tests.support.meanwhile import meanwhile
from tests.support.processes import Process, fork
from tests.support.story import Story

Take = Callable[[AbstractIncomingMessage], Awaitable[None]]


async def until(what: str, true: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until `true()` holds, which may be awaited; fails, naming what was waited for, after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (await found if isawaitable(found := true()) else found):
        assert time.monotonic() < deadline, f"waited {seconds} s in vain: {what}"
        await asyncio.sleep(0.02)


class Got(msgspec.Struct, frozen=True):
    """One message as it came: `seq` is None for `alive`."""

    key: str
    seq: int | None
    prev: int | None
    message_id: str
    body: bytes
    at: float


class Consumer:
    """A tenant's client: one exclusive queue bound to everything, every message in order of arrival."""

    def __init__(self, url: str, exchange: str) -> None:
        self.url, self.exchange = url, exchange
        self.got: list[Got] = []

    async def take(self, message: AbstractIncomingMessage) -> None:
        headers = message.headers
        self.got.append(
            Got(
                key=message.routing_key or "",
                seq=headers.get("x-seq"),  # type: ignore[arg-type]
                prev=headers.get("x-prev-seq"),  # type: ignore[arg-type]
                message_id=message.message_id or "",
                body=message.body,
                at=time.monotonic(),
            )
        )

    @property
    def live(self) -> list[Got]:
        return [got for got in self.got if got.key.startswith("hi.")]

    @property
    def replayed(self) -> list[Got]:
        """What a recovery published, its ends included."""
        return [got for got in self.got if got.key.startswith("lo.") or ".snapshot_complete." in got.key]

    @property
    def alives(self) -> list[Got]:
        return [got for got in self.got if ".alive." in got.key]

    @property
    def notices(self) -> list[int]:
        """Where among all that came each `alive` is that reports that messages may have been missed."""
        return [at for at, got in enumerate(self.got) if b'subscribed="0"' in got.body]

    @property
    def downs(self) -> int:
        return len(self.notices)

    @property
    def seqs(self) -> set[int]:
        return {got.seq for got in self.live if got.seq is not None}

    @property
    def repeats(self) -> int:
        """How many deliveries were not the first of their number."""
        return len(self.live) - len(self.seqs)

    def check_identity(self) -> None:
        """The same number is always the same message."""
        ids = {(got.seq, got.message_id, got.key, got.prev, got.body) for got in self.live}
        assert len(ids) == len(self.seqs)

    def check_order(self) -> None:
        """Each first delivery comes after those of all lower numbers."""
        firsts = list(dict.fromkeys(got.seq for got in self.live))
        assert firsts == sorted(self.seqs)


@asynccontextmanager
async def consuming(url: str, exchange: str) -> AsyncIterator[Consumer]:
    consumer = Consumer(url, exchange)
    async with await aio_pika.connect(url) as connection:
        await consume(await connection.channel(), exchange, consumer.take)
        yield consumer


async def consume(channel: AbstractChannel, exchange: str, take: Take, *bindings: str) -> None:
    """Have everything taken that comes to a queue of its own with these bindings, or with one to all."""
    queue = await channel.declare_queue(exclusive=True)
    for binding in bindings or ("#",):
        await queue.bind(exchange, binding)
    await queue.consume(take, no_ack=True)


@asynccontextmanager
async def subscribed(url: str, exchange: str, slug: str) -> AsyncIterator[Consumer]:
    """A consumer with a durable queue, which comes back whenever the broker does; nothing that the broker
    has confirmed to us is lost to it."""
    consumer = Consumer(url, exchange)

    async def consume() -> None:
        async with open_connection(url, 5) as connection:
            channel = await connection.channel()
            await channel.set_qos(100)
            queue = await channel.declare_queue(f"{slug}.feed", durable=True)
            await queue.bind(exchange, "#")
            async with queue.iterator() as messages:
                async for message in messages:
                    await consumer.take(message)
                    await message.ack()

    async def go_on() -> None:
        while True:
            with contextlib.suppress(AMQPError, OSError, TimeoutError, RuntimeError):
                await consume()
            await asyncio.sleep(0.2)

    async with meanwhile(go_on()):
        yield consumer


class Rig:
    """Everything that a test of the feed needs, on fresh tenants and matches."""

    def __init__(self, settings: Settings, store: Store, management: Management, directory: Path) -> None:
        self.settings, self.store, self.management = settings, store, management
        self.directory = directory
        self.slugs: list[str] = []
        self.vhosts: list[str] = []
        self.processes: list[Process] = []
        self.written: Counter[UUID] = Counter()
        #: For sessions in this process: nobody runs it, tests set in its place that ingest has died.
        self.watch = IngestWatchdog(store, lambda: asyncio.sleep(0), dead_seconds=15)
        self.rest = RestWatch(store)
        self.rest.answers = True

    async def tenant(
        self, *, probabilities: bool = False, bet_stop: bool = False, numbered: bool = False
    ) -> tuple[Tenant, str]:
        """A tenant with a vhost, to be published to from now on, and its AMQP URL. `numbered`: its vhost is
        named by its number."""
        slug = f"t{secrets.token_hex(5)}"
        tenant = Tenant(
            id=uuid4(), slug=slug, name=slug, amqp=True, probabilities=probabilities, bet_stop=bet_stop
        )
        if numbered:
            tenant = msgspec.structs.replace(tenant, named_vhost=f"{NUMBERED_VHOST}{tenant.bookmaker_id}")
        url = await provisioning.provision(
            self.management,
            tenant.vhost,
            self.settings.exchange,
            self.settings.rabbitmq_public_host,
            mode=self.settings.broker_authorisation,
            broker=parse(self.settings.rabbitmq_url),
        )
        self.slugs.append(slug)
        self.vhosts.append(tenant.vhost)
        async with self.store.transaction() as tx:
            await tenants.insert(tx, tenant, 0)
            await cursors.create_missing(tx)
        return tenant, url

    async def match(self) -> Match:
        return await Story(self.store).match()

    async def write_changes(self, match: Match, times: int = 1) -> list[int]:
        """Write `times` odds changes of `match`, each in its own transaction; their numbers."""
        return [await self._write_change(match) for _ in range(times)]

    async def _write_change(self, match: Match) -> int:
        self.written[match.id] += 1
        odds = Decimal(101 + self.written[match.id] % 900) / 100
        market = Market(13, "map=1|round=1|team=home", MarketStatus.ACTIVE, odds, float(1 / odds))
        drafts = [
            ChangeDraft("match", str(match.id), "match.updated", "odds_change", encode(summarize(match))),
            ChangeDraft("market", market.specifiers, "market.updated", "odds_change", encode(market)),
        ]
        async with self.store.transaction() as tx:
            written = await changes.append(tx, match, drafts, time.time_ns() // 1_000_000)
        return written.last_seq

    async def feed(self, **overrides: str) -> Process:
        """Start a feed process with our settings; nothing is waited for. There is no ingest, and the process
        does not mind."""
        overrides = {"INGEST_DEAD_SECONDS": "3600", **overrides}
        log = self.directory / f"feed-{len(self.processes)}.log"
        self.processes.append(fork(("feed",), self.settings, log, **overrides))
        return self.processes[-1]

    async def pause(self, process: Process) -> None:
        """Stop it while it has no transaction open: what that had locked would remain locked until another
        process ends its sessions."""

        async def paused() -> bool:
            process.pause()
            if not await transactions(self.store):
                return True
            process.resume()
            return False

        await until("the process has no transaction open", paused)

    async def close(self) -> None:
        for process in self.processes:
            await process.end()
        for vhost in self.vhosts:
            await provisioning.deprovision(self.management, vhost)


@asynccontextmanager
async def rigged(settings: Settings, store: Store, directory: Path) -> AsyncIterator[Rig]:
    async with Management(settings.rabbitmq_api_url) as management:
        rig = Rig(settings, store, management, directory)
        try:
            yield rig
        finally:
            await rig.close()


def encode(value: object) -> bytes:
    return msgspec.json.encode(value)
