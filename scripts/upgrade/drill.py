"""The drill: the former version under load, the migrations, its processes replaced one after the other."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

import asyncpg
import msgspec

from app.store.connections import open_store
from scripts.lab import database_audit
from scripts.lab.database_audit import LedgerAudit, Written
from scripts.lab.feed_client import FeedClient, different_books
from scripts.lab.operators import Account, Operators, Requester
from scripts.lab.play import play_on
from scripts.lab.stream_client import StreamClient
from scripts.local_services.output import print_line
from scripts.upgrade import findings, traffic
from scripts.upgrade.balancer import Counts
from scripts.upgrade.findings import Received, Streamed
from scripts.upgrade.installation import FORMER, FORMER_WEB, PRESENT, PRESENT_WEB, Installation
from scripts.upgrade.traffic import Shut

EXCHANGE = "oddsfeed"
SLUGS = ("steady", "restless", "curious", "quiet")
_SETTLE_SECONDS, _PATIENCE_SECONDS = 15.0, 60.0
#: What ingest of 0.2.0 says of prices that a command at a present web process has set. Later versions know
#: which model has priced (`Match.priced_by`).
_OF_OTHER_PRICES = ("ingest-1", "a price moved without a cause: ")


class Plan(msgspec.Struct, frozen=True):
    """How many matches are played at a time, how fast; seconds before the first step, and of each step."""

    matches: int
    speed: float
    before: float
    beside: float


class Step(msgspec.Struct, frozen=True):
    """A step of the upgrade: how long it and what follows took, the longest silence of a tenant's queue in
    that time, in seconds, and messages that were repeated."""

    name: str
    seconds: float
    silence: float
    repeated: int


class Outcome(msgspec.Struct, kw_only=True, frozen=True):
    steps: Sequence[Step]
    received: Received
    shut: float
    connections: int
    recoveries: tuple[int, int]
    stream: Streamed
    requests: Counter[int]
    slowest: float
    balancer: dict[str, Counts]
    migrate_seconds: float
    ledger: LedgerAudit
    wrong: Sequence[str]


class Drill:
    """One upgrade of one installation."""

    def __init__(self, installation: Installation, plan: Plan) -> None:
        self._installation, self._plan = installation, plan
        self._marks = list[tuple[str, float]]()
        self._accepted = set[str]()
        self._accounts = dict[str, Account]()
        self._migrate_seconds = 0.0
        self._closing = AsyncExitStack()
        self._began = ""  #: when the upgrade began, as the logs have it
        self._following, self._acting = list[asyncio.Task[None]](), list[asyncio.Task[None]]()

    async def run(self) -> Outcome:
        made = self._installation
        operator = self._make()
        for name in FORMER_WEB:
            await made.start_web(name)
        made.start("ingest-1", FORMER, "ingest")
        made.start("feed-1", FORMER, "feed")
        self._connect(operator)
        await self._wait(
            "all tenants to receive alive: their cursors begin where the feed process first sees them",
            lambda: all(each.deliveries for each in self.everyone),
        )
        made.simulate(operator, self._plan.matches, self._plan.speed)
        self._mark("the former version alone")
        await play_on(self._plan.before, self._check)
        connection = await asyncpg.connect(made.settings["DATABASE_URL"])
        before = await database_audit.written(connection)
        self._shut.longest = 0.0
        self._began = datetime.now(UTC).isoformat()
        await self._upgrade()
        shut = self._shut.longest
        await made.processes.end("simulator")
        return await self._compare(connection, before, shut)

    def _make(self) -> str:
        """Everything that is made by the former version's command line; the operator's key."""
        made = self._installation
        made.matchfeed_former("migrate")
        for slug in SLUGS:
            made.matchfeed_former("tenant", "create", slug)
            login = made.matchfeed_former("tenant", "provision", slug).strip()
            key = self._issue(slug, "cs2.odds.basic")
            self._accounts[slug] = Account(slug, login, key, EXCHANGE)
        made.matchfeed_former("tenant", "create", "house")
        return self._issue("house", "cs2.operator")

    def _issue(self, slug: str, bundle: str) -> str:
        arguments = ("key", "issue", slug, "--bundle", bundle, "--rpm", "100000")
        issued = msgspec.json.decode(self._installation.matchfeed_former(*arguments))
        return str(issued["api_key"])

    def _connect(self, operator: str) -> None:
        url, keys = self._installation.balancer.url, {each.slug: each.key for each in self._accounts.values()}
        self.everyone = [FeedClient(each, url, notify=print_line) for each in self._accounts.values()]
        self.stream = StreamClient(self._accounts["quiet"], url.replace("http", "ws", 1))
        self._closing.push_async_callback(self.stream.close)
        for client in self.everyone:
            self._closing.push_async_callback(client.close)
        self._shut = Shut(self.everyone[SLUGS.index("steady")])
        reader, curious = Requester(url, keys["steady"]), Requester(url, keys["curious"])
        operators = Operators(url, operator)
        self._requesters = [reader, operators, curious]
        for requester in self._requesters:
            self._closing.push_async_callback(requester.close)
        self._acting = [
            asyncio.create_task(work)
            for work in (
                traffic.read(reader),
                traffic.command(operators),
                traffic.recover(curious, self._accepted),
                traffic.recover_all(self._restless),
            )
        ]
        self._following = [asyncio.create_task(self._shut.watch())]

    @property
    def _restless(self) -> FeedClient:
        """The tenant that requests everything again and again."""
        return self.everyone[SLUGS.index("restless")]

    @property
    def _reconnected(self) -> list[str]:
        return [each.slug for each in self.everyone if each.connections > 1]

    @property
    def _messages(self) -> findings.Everyone:
        return {each.slug: each.deliveries for each in self.everyone}

    async def _upgrade(self) -> None:
        """The order of docs/deploy.md."""
        made = self._installation
        async with self._step("migrations"):
            began = time.monotonic()
            await asyncio.to_thread(made.matchfeed, "migrate")
            self._migrate_seconds = time.monotonic() - began
        for number, (former, present) in enumerate(zip(FORMER_WEB, PRESENT_WEB, strict=True), 1):
            async with self._step(f"present web process {number} beside"):
                await made.start_web(present)
            async with self._step(f"former web process {number} ended"):
                await made.end_web(former)
        async with self._step("present feed process beside"):
            made.start("feed-2", PRESENT, "feed")
        async with self._step("former feed process ended, in a recovery"):
            self._restless.recover()
            await made.processes.end("feed-1")
        async with self._step("present ingest process beside"):
            made.start("ingest-2", PRESENT, "ingest")
        async with self._step("former ingest process ended"):
            await made.processes.end("ingest-1")

    @asynccontextmanager
    async def _step(self, name: str) -> AsyncIterator[None]:
        """What the block does, and play for a while after it."""
        self._mark(name)
        yield
        await play_on(self._plan.beside, self._check)

    def _mark(self, name: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)
        self._marks.append((name, time.time()))

    def _check(self) -> None:
        self._installation.processes.check()
        for each in self.everyone:
            each.check()
        self.stream.check()
        for task in (*self._following, *self._acting):
            if task.done():
                task.result()

    async def _wait(self, what: str, true: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                while not true():
                    await asyncio.sleep(0.1)
        except TimeoutError as error:
            raise TimeoutError(f"waited {_PATIENCE_SECONDS:.0f} s for {what}") from error

    async def _compare(
        self, connection: asyncpg.Connection, before: Sequence[Written], shut: float
    ) -> Outcome:
        """Once nothing is played any more: compare everything."""
        self._mark("play has ended")
        await play_on(_SETTLE_SECONDS, self._check)
        for task in self._acting:
            task.cancel()
        wrong = await different_books(self.everyone)
        got = await self._received(connection)
        now = time.time()
        await self._wait("an alive on the stream", lambda: self._alive_since(now))
        wrong += got.wrong()
        wrong += [f"{slug} was disconnected" for slug in self._reconnected]
        for each in before:
            wrong += each.difference(await database_audit.still_written(connection, each))
        ledger = {row["id"] for row in await connection.fetch("SELECT id FROM ledger_entry")}
        stream = findings.streamed(self.stream.frames, ledger)
        wrong += stream.wrong
        wrong += findings.unfinished(self._messages, self._accepted)
        wrong += [
            f"{times} times {what}" for each in self._requesters for what, times in each.failures.items()
        ]
        counts = self._installation.balancer.counts()
        wrong += [f"{name}: {each}" for name, each in counts.items() if each.failed or each.unreachable]
        for complaint in self._installation.complaints(self._began):
            said = f"{complaint.process} logged {complaint.times} times: {complaint.event}"
            of_other_prices = (complaint.process, complaint.event) == _OF_OTHER_PRICES
            if of_other_prices and not self._installation.former.knows_models:
                print_line(f"{said}(each match was suspended until its next round)")
            else:
                wrong.append(said)
        async with await open_store(
            self._installation.settings["DATABASE_URL"], 2, session_name="upgrade"
        ) as store:
            audited = await database_audit.audit_ledger(store)
        await connection.close()
        return Outcome(
            steps=list(self._steps()),
            received=got,
            shut=shut,
            connections=sum(each.connections for each in self.everyone),
            recoveries=(sum(each.accepted for each in self.everyone), len(self._accepted)),
            stream=stream,
            requests=sum((each.statuses for each in self._requesters), start=Counter[int]()),
            slowest=max(each.slowest for each in self._requesters),
            balancer=counts,
            migrate_seconds=self._migrate_seconds,
            ledger=audited,
            wrong=[*wrong, *audited.wrong],
        )

    def _alive_since(self, moment: float) -> bool:
        return any(frame.kind == "alive" and frame.moment > moment for frame in self.stream.frames[-5:])

    async def _received(self, connection: asyncpg.Connection) -> Received:
        """What the tenants received; what is still missing after a while is lost."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            published = await findings.published(connection)
            got = findings.received(self._messages, published, self._reconnected)
            if not got.lost or time.monotonic() > until:
                return got
            await asyncio.sleep(1)

    def _steps(self) -> list[Step]:
        ends = [at for _, at in self._marks[1:]]
        return [
            Step(
                name,
                ended - began,
                findings.silence(self._messages, began, ended),
                findings.repeated(self._messages, began, ended),
            )
            for (name, began), ended in zip(self._marks, ends, strict=False)
        ]

    async def close(self) -> None:
        for task in (*self._following, *self._acting):
            task.cancel()
        await self._closing.aclose()
