"""Counting in Redis how often something happened in the last minute: exact, and shared by all processes.

All counts that are asked for while one answer is under way go together in the next script call, so the
cost of a count falls as the load rises. What Redis holds may be lost at any moment; nothing but a rate is.
"""

import asyncio
from typing import Any, Self

import hiredis
import msgspec

from app.kit.clock import Clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store.redis_connection import RedisCommand, RedisConnection

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


class _CountRequest(msgspec.Struct, frozen=True, eq=False):
    name: str
    limit: int
    answer: asyncio.Future[Count]


class Counters:
    """Counts in one Redis. Usable between `async with`; while Redis is away, says so at once.

    Without a `clock` the time is Redis's own. A batch lives on one server: this is not for a Redis cluster.
    """

    def __init__(self, redis_url: str, clock: Clock | None = None) -> None:
        self._url = redis_url
        self._clock = clock
        self._sha = ""
        self._link: RedisConnection | None = None
        self._down = asyncio.Event()
        self._waiting: list[_CountRequest] = []
        #: What was asked and is not answered yet; nothing more is asked meanwhile.
        self._batch: list[_CountRequest] = []
        self._overdue_at: asyncio.TimerHandle | None = None
        self._keeping: asyncio.Task[None] | None = None

    @property
    def up(self) -> bool:
        """Whether Redis answered the last time that it was asked."""
        return self._link is not None

    async def count(self, name: str, limit: int) -> Count:
        """Count one more of `name` unless `limit` of them happened in the last minute.

        Raises `Unavailable` when Redis is away: at once when that is known, within 0.1 s otherwise.
        """
        if self._link is None:
            raise Unavailable(_AWAY)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Count] = loop.create_future()
        if not self._waiting and not self._batch:
            loop.call_soon(self._ask)
        self._waiting.append(_CountRequest(name, limit, answer))
        return await answer

    def _ask(self) -> None:
        """Ask for everything that waits, in one call."""
        if self._link is None or not self._waiting:
            return
        self._batch, self._waiting = self._waiting, []
        self._link.send(("EVALSHA", self._sha, *self._arguments()), self._answered)
        loop = asyncio.get_running_loop()
        self._overdue_at = loop.call_later(_PATIENCE_SECONDS, self._overdue, self._batch, False)

    def _arguments(self) -> RedisCommand:
        moment: int | str = self._clock() if self._clock else ""
        names = [asked.name for asked in self._batch]
        return (len(names), *names, WINDOW_MILLIS, moment, *[asked.limit for asked in self._batch])

    def _answered(self, said: Any) -> None:
        if isinstance(said, hiredis.ReplyError):
            self._refused(said)
            return
        if self._overdue_at:
            self._overdue_at.cancel()
        batch, self._batch = self._batch, []
        numbers = iter(said)
        for asked, counted, remaining, frees_in in zip(batch, numbers, numbers, numbers, strict=True):
            if not asked.answer.done():
                asked.answer.set_result(Count(counted == 1, remaining, frees_in))
        self._ask()

    def _refused(self, error: Exception) -> None:
        if self._link and str(error).startswith("NOSCRIPT"):
            self._link.send(("EVAL", SCRIPT, *self._arguments()), self._answered)
        else:
            self._lose(repr(error))

    def _overdue(self, batch: list[_CountRequest], last: bool) -> None:
        """Give up on a batch, but not before what arrived while we were held up ourselves has been read."""
        if self._batch is not batch:
            return
        if last:
            self._lose("no answer in time", late=True)
        else:
            loop = asyncio.get_running_loop()
            self._overdue_at = loop.call_later(_GRACE_SECONDS, self._overdue, batch, True)

    def _lose(self, why: str, *, late: bool = False) -> None:
        """Let everyone who waits go, and have `_keep` connect anew."""
        link, self._link = self._link, None
        if link and late:
            log.warning("Redis answers too late; requests of this moment are not counted", why=why)
        elif link:
            log.error(_AWAY, why=why)
        if link:
            link.close()
        for asked in (*self._batch, *self._waiting):
            if not asked.answer.done():
                asked.answer.set_exception(Unavailable(_AWAY))
        self._batch, self._waiting = [], []
        self._down.set()

    def _ended(self, link: RedisConnection) -> None:
        if link is self._link:
            self._lose("the connection ended")

    async def _keep(self) -> None:
        """Connect, and connect anew whenever the connection was lost, until cancelled."""
        while True:
            await self._down.wait()
            try:
                await self._connect()
                log.info("Redis answers: rates are counted")
            except (OSError, hiredis.HiredisError):
                await asyncio.sleep(_RETRY_SECONDS)

    async def _connect(self) -> None:
        async with asyncio.timeout(_CONNECT_SECONDS):  # TimeoutError is an OSError
            link = await RedisConnection.open(self._url, self._ended)
            try:
                self._sha = (await link.ask(("SCRIPT", "LOAD", SCRIPT))).decode()
            except BaseException:
                link.close()
                raise
        self._link = link
        self._down.clear()

    async def __aenter__(self) -> Self:
        """Connect, or say that Redis is away and go on trying."""
        try:
            await self._connect()
        except (OSError, hiredis.HiredisError) as error:
            log.error(_AWAY, why=repr(error))
            self._down.set()
        self._keeping = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._keeping:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])
        link, self._link = self._link, None
        if link:
            link.close()
        self._lose("we are leaving")
