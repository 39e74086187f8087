"""Sliding-window counters in Redis: how often something happened in the last minute, exactly, in all
processes; and counters of one process, for limits that must hold while Redis is away.

All counts that are requested while a reply is pending are sent together in the next script call, so the cost
of a count falls as the load rises (decision 0040). Redis may lose its data at any moment; it holds nothing
but these rates.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Any, Self

import msgspec
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.commands.core import AsyncScript
from redis.exceptions import RedisError

from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger

_MAX_NAMES = 20_000


class ProcessCounters:
    """How often things happened within `window` ms; only the newest `names` of them are counted."""

    def __init__(self, window: int, clock: Clock = system_clock, names: int = _MAX_NAMES) -> None:
        self._window = window
        self._clock = clock
        self._names = names
        self._times: OrderedDict[str, deque[int]] = OrderedDict()

    def count(self, name: str, limit: int) -> int:
        """Count one more of `name` unless `limit` of them happened in the window: 0, or in how many ms one
        may be counted again."""
        now = self._clock()
        times = self._times.pop(name, None) or deque()
        self._times[name] = times
        if len(self._times) > self._names:
            self._times.popitem(last=False)
        while times and times[0] <= now - self._window:
            times.popleft()
        if len(times) >= limit:
            return times[0] + self._window - now
        times.append(now)
        return 0


WINDOW_MILLIS = 60_000
_REPLY_SECONDS = 0.08
#: After a delay of this process itself: the time to read replies that have already arrived.
_GRACE_SECONDS = 0.02
_CONNECT_SECONDS = 1.0
_RETRY_SECONDS = 0.25
_AWAY = "Redis is away; nothing is counted."
#: Each key is a list of the counted times, oldest first. The clock is Redis's own, so that processes on
#: machines with different clocks agree, and never goes back behind the newest time. Arguments: the window in
#: ms, a time instead of the present ("" for none), then one limit per key. Returns three numbers per key: 1
#: when it was counted, how many more may be, and ms until the next one may.
SCRIPT = """
local window, now = tonumber(ARGV[1]), tonumber(ARGV[2])
if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local answer = {}
for place, key in ipairs(KEYS) do
    local limit, at = tonumber(ARGV[place + 2]), now
    local newest = redis.call('LINDEX', key, -1)
    if newest and tonumber(newest) > at then at = tonumber(newest) end
    local oldest = redis.call('LINDEX', key, 0)
    while oldest and tonumber(oldest) <= at - window do
        redis.call('LPOP', key)
        oldest = redis.call('LINDEX', key, 0)
    end
    local count = redis.call('LLEN', key)
    local counts = count < limit
    if counts then
        redis.call('RPUSH', key, string.format('%.0f', at))
        redis.call('PEXPIRE', key, window)
        count = count + 1
    end
    local frees = redis.call('LINDEX', key, math.max(count - limit, 0)) or at
    table.insert(answer, counts and 1 or 0)
    table.insert(answer, math.max(limit - count, 0))
    table.insert(answer, frees + window - now)
end
return answer
"""
log = get_logger(__name__)


class Count(msgspec.Struct, frozen=True):
    """Whether the request was `counted` (else it exceeded the limit), how many more may be counted now, and
    in how many milliseconds the next one may."""

    counted: bool
    remaining: int
    frees_in: int


class _CountRequest(msgspec.Struct, frozen=True, eq=False):
    name: str
    limit: int
    result: asyncio.Future[Count]


class Counters:
    """Counters in one Redis, an async context manager; while Redis is down, `count` raises at once.

    Without a `clock` the time is Redis's own. A batch is one script call: a Redis cluster is not supported.
    """

    def __init__(self, redis_url: str, clock: Clock | None = None) -> None:
        self._url = redis_url
        self._clock = clock
        self._in_process = ProcessCounters(WINDOW_MILLIS, clock or system_clock)
        self._client: Redis | None = None
        self._script: AsyncScript | None = None
        self._abandoned: Redis | None = None  #: the client of a lost connection, which is still to be closed
        self._down = asyncio.Event()
        self._waiting: list[_CountRequest] = []
        #: The requests whose reply is pending; no others are sent meanwhile.
        self._batch: list[_CountRequest] = []
        self._sending: asyncio.Task[None] | None = None
        self._timeout_handle: asyncio.TimerHandle | None = None
        self._reconnecting: asyncio.Task[None] | None = None

    @property
    def up(self) -> bool:
        """Whether Redis replied to the last request."""
        return self._client is not None

    async def count(self, name: str, limit: int) -> Count:
        """Count one more of `name` unless `limit` of them happened in the last minute.

        Raises `Unavailable` when Redis is down: at once when that is known, within 0.1 s otherwise.
        """
        client = self._client
        if client is None:
            raise Unavailable(_AWAY)
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Count] = loop.create_future()
        if self._sending is None:
            self._sending = loop.create_task(self._send_batches())
        self._waiting.append(_CountRequest(name, limit, result))
        return await result

    async def refused_for(self, name: str, limit: int) -> int:
        """Count one more of `name`, as `count` does; 0, or in how many ms one may be counted again. While
        Redis is down, only what happens in this process is counted, and the limit holds for that."""
        try:
            count = await self.count(name, limit)
        except Unavailable:
            return self._in_process.count(name, limit)
        return 0 if count.counted else max(count.frees_in, 1)

    async def _send_batches(self) -> None:
        """Send all waiting requests in one call, again and again until none is waiting."""
        loop, script = asyncio.get_running_loop(), self._script
        assert script, "registered with the client"
        while self._waiting:
            batch, self._waiting = self._waiting, []
            self._batch = batch
            self._timeout_handle = loop.call_later(_REPLY_SECONDS, self._on_timeout, batch, False)
            moment: int | str = self._clock() if self._clock else ""
            limits = [request.limit for request in batch]
            try:
                reply = await script([request.name for request in batch], [WINDOW_MILLIS, moment, *limits])
                _resolve(batch, reply)
            except (RedisError, OSError, ValueError) as error:  # ValueError: a reply of another length
                self._disconnect(repr(error))
                return
            self._timeout_handle.cancel()
            self._batch = []
        self._sending = None

    def _on_timeout(self, batch: list[_CountRequest], last: bool) -> None:
        """Give up on a batch, but only after reading replies that arrived while this process was delayed."""
        if self._batch is not batch:
            return
        if last:
            self._disconnect("no answer in time", late=True)
        else:
            loop = asyncio.get_running_loop()
            self._timeout_handle = loop.call_later(_GRACE_SECONDS, self._on_timeout, batch, True)

    def _disconnect(self, why: str, *, late: bool = False) -> None:
        """Fail all pending requests, and let `_reconnect` connect again."""
        client, self._client = self._client, None
        self._abandoned = client or self._abandoned
        if client and late:
            log.warning("Redis answers too late; requests of this moment are not counted", why=why)
        elif client:
            log.error(_AWAY, why=why)
        if self._timeout_handle:
            self._timeout_handle.cancel()
        if self._sending and self._sending is not asyncio.current_task():
            self._sending.cancel()
        self._sending = None
        for request in (*self._batch, *self._waiting):
            if not request.result.done():
                request.result.set_exception(Unavailable(_AWAY))
        self._batch, self._waiting = [], []
        self._down.set()

    async def _reconnect(self) -> None:
        """Connect again whenever the connection was lost, until cancelled."""
        while True:
            await self._down.wait()
            try:
                await self._connect()
                log.info("Redis answers: rates are counted")
            except (OSError, RedisError):
                await asyncio.sleep(_RETRY_SECONDS)

    async def _connect(self) -> None:
        client = Redis.from_url(
            self._url,
            protocol=2,
            single_connection_client=True,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=None,
        )
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):  # TimeoutError is an OSError
                await self._close_abandoned()
                await client.script_load(SCRIPT)
        except BaseException:
            await client.aclose()
            raise
        self._client, self._script = client, client.register_script(SCRIPT)
        self._down.clear()

    async def _close_abandoned(self) -> None:
        client, self._abandoned = self._abandoned, None
        if client:
            await client.aclose()

    async def __aenter__(self) -> Self:
        """Connect, or log that Redis is down and retry in the background."""
        try:
            await self._connect()
        except (OSError, RedisError) as error:
            log.error(_AWAY, why=repr(error))
            self._down.set()
        self._reconnecting = asyncio.create_task(self._reconnect())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._reconnecting:
            self._reconnecting.cancel()
            await asyncio.wait([self._reconnecting])
        self._abandoned, self._client = self._client or self._abandoned, None
        self._disconnect("we are leaving")
        await self._close_abandoned()


def _resolve(batch: Sequence[_CountRequest], reply: Sequence[Any]) -> None:
    """Give each request its part of the script's reply."""
    numbers = iter(reply)
    for request, counted, remaining, frees_in in zip(batch, numbers, numbers, numbers, strict=True):
        if not request.result.done():
            request.result.set_result(Count(counted == 1, remaining, frees_in))
