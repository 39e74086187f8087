"""One connection to Redis, without a task: commands are written as they come, answers handed to whoever
asked, in order. The client library's own commands cost several times what they carry here."""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable
from typing import Any, Self, cast

import hiredis
from redis.asyncio.connection import SSLConnection, parse_url

RedisCommand = tuple[str | bytes | int, ...]
ReplyHandler = Callable[[Any], None]  #: takes what Redis says; an error of its as `hiredis.ReplyError`


class RedisConnection(asyncio.Protocol):
    """Open it with `open`. `lost` is called once when the connection has ended, whoever ended it."""

    def __init__(self, lost: Callable[["RedisConnection"], None]) -> None:
        self._lost = lost
        self._reader = hiredis.Reader()
        self._asked: deque[ReplyHandler] = deque()
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def open(cls, url: str, lost: Callable[[Self], None]) -> Self:
        """Connect and log in as the URL says. Raises `OSError` or `hiredis.HiredisError`."""
        told = parse_url(url)
        loop = asyncio.get_running_loop()
        secure = ssl.create_default_context() if told.get("connection_class") is SSLConnection else None
        host, port = told.get("host", "localhost"), told.get("port", 6379)
        _, link = await loop.create_connection(lambda: cls(cast(Any, lost)), host, port, ssl=secure)
        try:
            if password := told.get("password"):
                user = told.get("username")
                await link.ask(("AUTH", user, password) if user else ("AUTH", password))
            await link.ask(("SELECT", int(told.get("db", 0))))
        except BaseException:
            link.close()
            raise
        return link

    def send(self, words: RedisCommand, answered: ReplyHandler) -> None:
        """Say something; `answered` is called with the answer, never if the connection ends before."""
        if self._transport:
            self._asked.append(answered)
            self._transport.write(hiredis.pack_command(words))  # type: ignore[arg-type]  # its stub knows pairs only

    async def ask(self, words: RedisCommand) -> Any:
        """The answer; raises `hiredis.ReplyError` for an error, waits for ever when there is none."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def answered(said: Any) -> None:
            if not answer.done():
                answer.set_result(said)

        self.send(words, answered)
        said = await answer
        if isinstance(said, hiredis.ReplyError):
            raise said
        return said

    def close(self) -> None:
        if self._transport:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (said := self._reader.gets()) is not False:
            self._asked.popleft()(said)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lost(self)
