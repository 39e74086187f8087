"""What can break where the service runs on this machine: its processes, and their connections to the three
servers; two at a time, drawn from a seed, so that the same day can be repeated.

The servers are shared with others. So of PostgreSQL's sessions and Redis' connections only those are closed
that a process of ours has opened, by its ports; of the broker's those to our own vhosts.
"""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from random import Random
from typing import Any, Literal
from urllib.parse import urlsplit

import asyncpg
import msgspec
from redis.asyncio import Redis

from app.broker.management import Management
from app.kit.errors import Unavailable
from app.settings import Settings
from scripts.lab.service import PROCESSES, WEB, Service

How = Literal["SIGTERM", "SIGKILL", "SIGSTOP", "database", "Redis", "broker"]
#: The target of what hits every client of the broker.
BROKER = "broker"
#: Each fault with its target: a process, or the broker. Web processes alone use Redis.
KINDS: tuple[tuple[How, str], ...] = (
    *(("SIGTERM", name) for name in PROCESSES),
    *(("SIGKILL", name) for name in PROCESSES),
    *(("SIGSTOP", name) for name in PROCESSES),
    *(("database", name) for name in PROCESSES),
    *(("Redis", name) for name in WEB),
    ("broker", BROKER),
)
PAIR_SECONDS = 120.0  #: of the day for each pair: what it has caused is over when the next one begins
_BEGIN = (0.2, 0.5)  #: when in its part of the day a pair begins
_SECONDS = (4.0, 10.0)  #: how long a fault is on
_WORDS: dict[How, str] = {
    "SIGTERM": "{} gets SIGTERM",
    "SIGKILL": "{} gets SIGKILL",
    "SIGSTOP": "{} is stopped (SIGSTOP)",
    "database": "database sessions of {} are ended",
    "Redis": "Redis connections of {} are closed",
    "broker": "all connections to the {} are closed",
}
_AGAIN_SECONDS = 1.0  #: connections that were opened meanwhile are closed, too
_END_SESSIONS = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND client_port = ANY($1::integer[])
"""


class Fault(msgspec.Struct, frozen=True):
    """From `at` on (seconds since the day began), for `seconds`, this happens to `target`. A process that has
    got a signal is started, or continued, after that time; connections are closed again every second."""

    at: float
    seconds: float
    how: How
    target: str

    @property
    def until(self) -> float:
        return self.at + self.seconds

    def __str__(self) -> str:
        return _WORDS[self.how].format(self.target)


Pair = tuple[Fault, Fault]


def pairs(seed: int, seconds: float) -> tuple[Pair, ...]:
    """The pairs of a day of so many seconds. The second fault of a pair has another target, and begins in
    the first half of the first one; every kind comes before one comes again."""
    rng, deck = Random(f"faults {seed}"), list[tuple[How, str]]()
    count = max(1, round(seconds / PAIR_SECONDS))
    part = seconds / count
    return tuple(_pair(rng, deck, part * (number + rng.uniform(*_BEGIN))) for number in range(count))


def _pair(rng: Random, deck: list[tuple[How, str]], at: float) -> Pair:
    first = Fault(at, rng.uniform(*_SECONDS), *_drawn(rng, deck))
    begin = at + rng.uniform(0.5, first.seconds / 2)
    return first, Fault(begin, rng.uniform(*_SECONDS), *_drawn(rng, deck, first.target))


def _drawn(rng: Random, deck: list[tuple[How, str]], other_than: str = "") -> tuple[How, str]:
    while True:
        for index, (_, target) in enumerate(deck):
            if target != other_than:
                return deck.pop(index)
        deck += rng.sample(KINDS, len(KINDS))


class Happened(msgspec.Struct, frozen=True):
    """A pair that has been: when it began, when both faults were over, and when the service reported that it
    was healthy again, in seconds since the day began; how many seconds both faults were on."""

    faults: Pair
    began: float
    ended: float
    healthy: float
    together: float


class FaultRecord:
    """The day's clock, and which faults have been. A pair is on until the service is healthy again."""

    def __init__(self) -> None:
        self.happened = list[Happened]()
        self._began = time.monotonic()
        self._on = False

    def now(self) -> float:
        """Seconds since the day began."""
        return time.monotonic() - self._began

    def begin(self) -> None:
        """A pair is on from now on."""
        self._on = True

    def end(self, pair: Happened) -> None:
        """It is over."""
        self.happened.append(pair)
        self._on = False

    def touched(self, since: float) -> bool:
        """Whether a pair has been on at any time since then."""
        return self._on or (bool(self.happened) and self.happened[-1].healthy >= since)


class Breakage:
    """`vhosts` are all that are ours."""

    def __init__(
        self, service: Service, settings: Settings, vhosts: Sequence[str], record: FaultRecord
    ) -> None:
        self._service, self._settings, self._vhosts, self._record = service, settings, vhosts, record
        self._database: asyncpg.Pool
        self._redis: Redis
        self._management: Management

    async def run(self, pairs: Sequence[Pair]) -> None:
        """Break and mend each pair at its time. Raises `TimeoutError` when a process does not end, or the
        service does not become healthy."""
        async with AsyncExitStack() as stack:
            # Both faults of a pair may end sessions at one time.
            pool = asyncpg.create_pool(self._settings.database_url, min_size=2, max_size=2)
            self._database = await stack.enter_async_context(pool)
            self._redis = await stack.enter_async_context(Redis.from_url(self._settings.redis_url))
            self._management = await stack.enter_async_context(Management(self._settings.rabbitmq_api_url))
            for pair in pairs:
                await self._until(pair[0].at)
                await self._break(pair)

    async def _break(self, pair: Pair) -> None:
        self._record.begin()
        began = self._record.now()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._hit(fault)) for fault in pair]
        ended = self._record.now()
        await self._service.until_healthy()
        (first_from, first_until), (second_from, second_until) = (task.result() for task in tasks)
        together = min(first_until, second_until) - max(first_from, second_from)
        self._record.end(Happened(pair, began, ended, self._record.now(), together))

    async def _hit(self, fault: Fault) -> tuple[float, float]:
        """From when until when it was on."""
        await self._until(fault.at)
        began = self._record.now()
        self._service.check()  # what has ended by itself is not to pass for a fault
        print(f"{began:6.0f} s  {fault}, for {fault.seconds:.1f} s", flush=True)
        match fault.how:
            case "SIGTERM" | "SIGKILL":
                await self._service.end(fault.target, signal.Signals[fault.how])
                await self._until(began + fault.seconds)
                self._service.start(fault.target)
            case "SIGSTOP":
                self._service.send(fault.target, signal.SIGSTOP)
                try:
                    await self._until(began + fault.seconds)
                finally:
                    self._service.send(fault.target, signal.SIGCONT)
            case "database":
                await self._close(fault, self._end_sessions)
            case "Redis":
                await self._close(fault, self._close_redis)
            case "broker":
                await self._close(fault, self._close_broker)
        return began, self._record.now()

    async def _close(self, fault: Fault, close: Callable[[str], Awaitable[int]]) -> None:
        """Close connections, again and again while the fault is on. Raises `RuntimeError` if there were none:
        then it was no fault."""
        until, closed = self._record.now() + fault.seconds, await close(fault.target)
        while (left := until - self._record.now()) > 0:
            await asyncio.sleep(min(_AGAIN_SECONDS, left))
            closed += await close(fault.target)
        if not closed:
            raise RuntimeError(f"{fault}: there were none")

    async def _end_sessions(self, name: str) -> int:
        ports = [port for _, port in self._service.addresses(name, _port(self._settings.database_url, 5432))]
        ended: int = await self._database.fetchval(_END_SESSIONS, ports)
        return ended

    async def _close_redis(self, name: str) -> int:
        own = self._service.addresses(name, _port(self._settings.redis_url, 6379))
        names = {f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in own}
        clients: list[dict[str, Any]] = await self._redis.client_list()
        found = [client["id"] for client in clients if client["addr"] in names]
        for client in found:
            await self._redis.client_kill_filter(_id=client)
        return len(found)

    async def _close_broker(self, _: str) -> int:
        listed = await asyncio.gather(*(self._management.connections(vhost) for vhost in self._vhosts))
        found = [connection for connections in listed for connection in connections]
        closing = (self._management.close_connection(each, "soak") for each in found)
        ended = await asyncio.gather(*closing, return_exceptions=True)
        for error in ended:
            # 500: a busy broker ends a connection whose channels take too long otherwise than by closing it.
            if isinstance(error, BaseException) and not isinstance(error, Unavailable):
                raise error
        return ended.count(None)

    async def _until(self, moment: float) -> None:
        await asyncio.sleep(max(0.0, moment - self._record.now()))


def _port(url: str, otherwise: int) -> int:
    return urlsplit(url).port or otherwise
