"""Counting in Redis how often something happened in the last minute: exact, and shared by all processes.

All counts that are asked for while one answer is under way go together in the next script call, so the
cost of a count falls as the load rises. What Redis holds may be lost at any moment; nothing but a rate is.
"""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, Self

import msgspec
from redis.asyncio.connection import Connection, ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError

from app.kit.clock import Clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger

WINDOW_MILLIS = 60_000
_PATIENCE_SECONDS = 0.08
#: What arrived while this process itself was held up is read in this time.
_GRACE_SECONDS = 0.02
_CONNECT_SECONDS = 1.0
_RETRY_SECONDS = 0.25
_AWAY = "Redis is away; nothing is counted."
#: Each key is a list of the moments that counted, oldest first. Time is Redis's own, so that processes on
#: machines with different clocks agree, and never steps back behind the newest moment. Arguments: the
#: window in ms, a moment instead of the present ("" for none), then one limit a key. Answers three
#: numbers a key: 1 when it counted, how many more may, and ms until the next place is free.
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
    """Whether this one `counted` (else it was over the limit), how many more may in this moment, and in
    how many milliseconds the next place is free."""

    counted: bool
    remaining: int
    frees_in: int


class _Asked(msgspec.Struct, frozen=True, eq=False):
    name: str
    limit: int
    answer: asyncio.Future[Count]


class Counters:
    """Counts in one Redis. Usable between `async with`; while Redis is away, says so at once.

    Without a `clock` the time is Redis's own. A batch lives on one server: this is not for a Redis cluster.
    """

    def __init__(self, redis_url: str, clock: Clock | None = None) -> None:
        pool = ConnectionPool.from_url(redis_url, retry=Retry(NoBackoff(), 0), socket_timeout=None)
        self._connection: Connection = pool.make_connection()  # type: ignore[no-untyped-call]
        self._clock = clock
        self._sha = ""
        self._up = False
        self._broken = asyncio.Event()
        self._waiting: list[_Asked] = []
        self._asking: asyncio.Task[None] | None = None
        self._keeping: asyncio.Task[None] | None = None

    @property
    def up(self) -> bool:
        """Whether Redis answered the last time that it was asked."""
        return self._up

    async def count(self, name: str, limit: int) -> Count:
        """Count one more of `name` unless `limit` of them happened in the last minute.

        Raises `Unavailable` when Redis is away: at once when that is known, within 0.1 s otherwise.
        """
        if not self._up:
            raise Unavailable(_AWAY)
        answer: asyncio.Future[Count] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Asked(name, limit, answer))
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_all())
        return await answer

    async def _ask_all(self) -> None:
        """Send what waits, as often as something waits."""
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._ask(batch)
        finally:
            self._asking = None

    async def _ask(self, batch: list[_Asked]) -> None:
        names = [asked.name for asked in batch]
        limits = [asked.limit for asked in batch]
        moment = self._clock() if self._clock else ""
        try:
            numbers = await _in_time(self._run(len(names), *names, WINDOW_MILLIS, moment, *limits))
        except (RedisError, OSError) as error:  # TimeoutError is an OSError
            self._lost(error)
            _refuse([*batch, *self._waiting])
            self._waiting = []
        except asyncio.CancelledError:
            _refuse(batch)
            raise
        else:
            for place, asked in enumerate(batch):
                counted, remaining, frees_in = numbers[place * 3 : place * 3 + 3]
                if not asked.answer.done():
                    asked.answer.set_result(Count(counted == 1, remaining, frees_in))

    async def _run(self, *args: Any) -> Any:
        try:
            return await self._command("EVALSHA", self._sha, *args)
        except NoScriptError:
            return await self._command("EVAL", SCRIPT, *args)

    async def _command(self, *words: Any) -> Any:
        await self._connection.send_command(*words, check_health=False)
        return await self._connection.read_response()

    def _lost(self, error: Exception) -> None:
        if self._up:
            log.error("Redis is away: nothing is counted", error=repr(error))
        self._up = False
        self._broken.set()

    async def _keep(self) -> None:
        """Connect, and connect anew whenever the connection was lost, until cancelled."""
        while True:
            await self._broken.wait()
            await self._connection.disconnect(nowait=True)
            if await self._connected():
                self._broken.clear()
                self._up = True
                log.info("Redis answers: rates are counted")
            else:
                await asyncio.sleep(_RETRY_SECONDS)

    async def _connected(self) -> bool:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self._connection.connect()  # type: ignore[no-untyped-call]
                self._sha = (await self._command("SCRIPT", "LOAD", SCRIPT)).decode()
        except (RedisError, OSError):
            return False
        return True

    async def __aenter__(self) -> Self:
        """Connect, or say that Redis is away and go on trying."""
        self._up = await self._connected()
        if not self._up:
            log.error("Redis is away: nothing is counted")
            self._broken.set()
        self._keeping = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = [task for task in (self._keeping, self._asking) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        _refuse(self._waiting)
        await self._connection.disconnect(nowait=True)


async def _in_time(command: Coroutine[Any, Any, Any]) -> Any:
    """The command's answer; raises `TimeoutError` when there is none within 0.1 s."""
    asking = asyncio.ensure_future(command)
    try:
        for seconds in (_PATIENCE_SECONDS, _GRACE_SECONDS):
            done, _ = await asyncio.wait({asking}, timeout=seconds)
            if done:
                return asking.result()
    finally:
        asking.cancel()
    raise TimeoutError("Redis does not answer in time.")


def _refuse(batch: Iterable[_Asked]) -> None:
    for asked in batch:
        if not asked.answer.done():
            asked.answer.set_exception(Unavailable(_AWAY))
