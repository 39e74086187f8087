"""One connection to Redis, without a task of its own: commands are written at once, replies go to their
callbacks in order. The client library's commands cost several times as much."""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable
from typing import Any, Self, cast

import hiredis
from redis.asyncio.connection import SSLConnection, parse_url

RedisCommand = tuple[str | bytes | int, ...]
ReplyHandler = Callable[[Any], None]  #: receives the reply; an error reply as `hiredis.ReplyError`


class RedisConnection(asyncio.Protocol):
    """Open it with `open`. `lost` is called once when the connection has ended, on either side."""

    def __init__(self, lost: Callable[["RedisConnection"], None]) -> None:
        self._lost = lost
        self._reader = hiredis.Reader()
        self._callbacks: deque[ReplyHandler] = deque()
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def open(cls, url: str, lost: Callable[[Self], None]) -> Self:
        """Connect and log in as the URL says. Raises `OSError` or `hiredis.HiredisError`."""
        options = parse_url(url)
        loop = asyncio.get_running_loop()
        secure = ssl.create_default_context() if options.get("connection_class") is SSLConnection else None
        host, port = options.get("host", "localhost"), options.get("port", 6379)
        _, link = await loop.create_connection(lambda: cls(cast(Any, lost)), host, port, ssl=secure)
        try:
            if password := options.get("password"):
                user = options.get("username")
                await link.request(("AUTH", user, password) if user else ("AUTH", password))
            await link.request(("SELECT", int(options.get("db", 0))))
        except BaseException:
            link.close()
            raise
        return link

    def send(self, command: RedisCommand, on_reply: ReplyHandler) -> None:
        """Send a command; `on_reply` is called with the reply, unless the connection ends before it."""
        if self._transport:
            self._callbacks.append(on_reply)
            self._transport.write(hiredis.pack_command(command))  # type: ignore[arg-type]  # its stub knows pairs only

    async def request(self, command: RedisCommand) -> Any:
        """The reply to a command; raises `hiredis.ReplyError` for an error reply; waits for ever if none
        arrives."""
        result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def on_reply(reply: Any) -> None:
            if not result.done():
                result.set_result(reply)

        self.send(command, on_reply)
        reply = await result
        if isinstance(reply, hiredis.ReplyError):
            raise reply
        return reply

    def close(self) -> None:
        if self._transport:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (reply := self._reader.gets()) is not False:
            self._callbacks.popleft()(reply)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lost(self)
