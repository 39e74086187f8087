"""The drill: the former version under load, the migrations, its processes replaced one after the other."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import asyncpg
import msgspec

from app.store.connections import open_store
from scripts.http_client import client
from scripts.soak import verdict
from scripts.soak.verdict import Verdict
from scripts.upgrade import findings
from scripts.upgrade.balancer import Counts
from scripts.upgrade.clients import Requester, Stream, Tenant
from scripts.upgrade.findings import Received
from scripts.upgrade.installation import FORMER, FORMER_WEB, PRESENT, PRESENT_WEB, Installation

EXCHANGE = "oddsfeed"
SLUGS = ("steady", "restless", "curious", "quiet")
_RECOVERY_SECONDS, _SETTLE_SECONDS, _PATIENCE_SECONDS = 10.0, 15.0, 60.0


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
    stream: Stream
    requests: Counter[int]
    slowest: float
    balancer: dict[str, Counts]
    migrate_seconds: float
    ledger: Verdict
    wrong: Sequence[str]


class Drill:
    """One upgrade of one installation."""

    def __init__(self, installation: Installation, plan: Plan) -> None:
        self._installation, self._plan = installation, plan
        self._marks = list[tuple[str, float]]()
        self._accepted = set[str]()
        self._migrate_seconds = self._shut = 0.0
        self._began = ""  #: when the upgrade began, as the logs have it
        self._following, self._acting = list[asyncio.Task[None]](), list[asyncio.Task[None]]()

    async def run(self) -> Outcome:
        made = self._installation
        operator = self._make()
        for name in FORMER_WEB:
            await made.start_web(name)
        made.start("ingest-1", FORMER, "ingest")
        made.start("feed-1", FORMER, "feed")
        self._connect()
        await self._wait(
            "all tenants to receive alive: their cursors begin where the feed process first sees them",
            lambda: all(each.messages for each in self.everyone),
        )
        made.simulate(operator, self._plan.matches, self._plan.speed)
        self._mark("the former version alone")
        await self._play(self._plan.before)
        connection = await asyncpg.connect(made.settings["DATABASE_URL"])
        before = await findings.written(connection)
        for each in self.everyone:
            each.shut = 0.0
        self._began = datetime.now(UTC).isoformat()
        await self._upgrade()
        self._shut = max(each.shut for each in self.everyone if each.slug == "steady")
        await made.end("simulator")
        return await self._compare(connection, before)

    def _make(self) -> str:
        """Everything that is made by the former version's command line; the operator's key."""
        made = self._installation
        made.matchfeed_former("migrate")
        self._logins, self._keys = {}, {}
        for slug in SLUGS:
            made.matchfeed_former("tenant", "create", slug)
            self._logins[slug] = made.matchfeed_former("tenant", "provision", slug).strip()
            self._keys[slug] = self._issue(slug, "cs2.odds.basic")
        made.matchfeed_former("tenant", "create", "house")
        return self._issue("house", "cs2.operator")

    def _issue(self, slug: str, bundle: str) -> str:
        arguments = ("key", "issue", slug, "--bundle", bundle, "--rpm", "100000")
        issued = msgspec.json.decode(self._installation.matchfeed_former(*arguments))
        self._keys[slug] = issued["api_key"]
        return str(issued["api_key"])

    def _connect(self) -> None:
        url = self._installation.balancer.url
        self.everyone = [
            Tenant(slug, self._logins[slug], EXCHANGE, client(url, self._keys[slug])) for slug in SLUGS
        ]
        self.stream = Stream(url, self._keys["quiet"])
        self.reader, self.operator = Requester(url, self._keys["steady"]), Requester(url, self._keys["house"])
        self.curious = Requester(url, self._keys["curious"])
        following = (*(each.watch() for each in self.everyone), self.stream.run())
        acting = (
            self.reader.read(),
            self.operator.command(),
            self.curious.recover(self._accepted),
            self._recoveries(),
        )
        self._following = [asyncio.create_task(work) for work in following]
        self._acting = [asyncio.create_task(work) for work in acting]

    @property
    def _reconnected(self) -> list[str]:
        return [each.slug for each in self.everyone if each.connections > 1]

    @property
    def _messages(self) -> findings.Everyone:
        return {each.slug: each.messages for each in self.everyone}

    async def _recoveries(self) -> None:
        """One tenant requests everything again and again."""
        restless = self.everyone[SLUGS.index("restless")]
        while True:
            await asyncio.sleep(_RECOVERY_SECONDS)
            restless.request_recovery()

    async def _upgrade(self) -> None:
        """The order of docs/deploy.md."""
        made, restless = self._installation, self.everyone[SLUGS.index("restless")]
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
            restless.request_recovery()
            await made.end("feed-1")
        async with self._step("present ingest process beside"):
            made.start("ingest-2", PRESENT, "ingest")
        async with self._step("former ingest process ended"):
            await made.end("ingest-1")

    @asynccontextmanager
    async def _step(self, name: str) -> AsyncIterator[None]:
        """What the block does, and play for a while after it."""
        self._mark(name)
        yield
        await self._play(self._plan.beside)

    def _mark(self, name: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)
        self._marks.append((name, time.monotonic()))

    async def _play(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            await asyncio.sleep(min(1, max(0, until - time.monotonic())))
            self._installation.check()
            for each in self.everyone:
                each.check()
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

    async def _compare(self, connection: asyncpg.Connection, before: Sequence[findings.Written]) -> Outcome:
        """Once nothing is played any more: compare everything."""
        self._mark("play has ended")
        await self._play(_SETTLE_SECONDS)
        for task in self._acting:
            task.cancel()
        wrong = await verdict.books(self.everyone)
        got = await self._received(connection)
        self.stream.complete.clear()
        await self._wait("an alive on the stream", self.stream.complete.is_set)
        wrong += got.wrong()
        wrong += [f"{slug} was disconnected" for slug in self._reconnected]
        wrong += await findings.changed(connection, before)
        wrong += await findings.streamed(connection, self.stream)
        wrong += findings.unfinished(self._messages, self._accepted)
        requesters = (self.reader, self.operator, self.curious)
        wrong += [f"{times} times {what}" for each in requesters for what, times in each.failures.items()]
        counts = self._installation.balancer.counts()
        wrong += [f"{name}: {each}" for name, each in counts.items() if each.failed or each.unreachable]
        complaints = self._installation.complaints(self._began)
        wrong += [f"{each.process} logged {each.times} times: {each.event}" for each in complaints]
        async with await open_store(
            self._installation.settings["DATABASE_URL"], 2, session_name="upgrade"
        ) as store:
            audited = await verdict.ledger(store)
        await connection.close()
        return Outcome(
            steps=list(self._steps()),
            received=got,
            shut=self._shut,
            connections=sum(each.connections for each in self.everyone),
            recoveries=(sum(each.recoveries for each in self.everyone), len(self._accepted)),
            stream=self.stream,
            requests=sum((each.statuses for each in requesters), start=Counter[int]()),
            slowest=max(each.slowest for each in requesters),
            balancer=counts,
            migrate_seconds=self._migrate_seconds,
            ledger=audited,
            wrong=[*wrong, *audited.wrong],
        )

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
        for each in getattr(self, "everyone", ()):
            await each.close()
        with suppress(AttributeError):
            for requester in (self.reader, self.operator, self.curious):
                await requester.client.aclose()
