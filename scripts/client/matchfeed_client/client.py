"""The connection to the queue: consume, recover, and connect again."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aio_pika
from aio_pika.exceptions import AMQPError, ChannelInvalidStateError, ProbableAuthenticationError

from matchfeed_client.book import Book
from matchfeed_client.decoding import Message, decode
from matchfeed_client.rest import ClientError, Comparison, Rest
from matchfeed_client.stored import StateFile

log = logging.getLogger("matchfeed_client")
#: A notice may come more than a minute after the loss; concurrent changes may be published in another order
#: than their timestamps.
_OVERLAP_MILLIS = 120_000
#: `alive` comes every ten seconds: two are missing.
_SILENCE_SECONDS = 20.0
_RECOVERY_SECONDS = 600.0
_CONNECT_SECONDS, _RECONNECT_SECONDS = 10.0, 2.0
#: Messages that the broker sends ahead; more wait in the queue, where they survive.
_PREFETCH = 500


@dataclass(frozen=True, slots=True)
class Update:
    """A message that has just been applied to the book."""

    message: Message


class _Silent(ConnectionError):
    """Nothing came for too long."""


class Client:
    """A tenant's feed. Use it as a context manager and iterate over it, one iteration at a time.

    `exchange` is the tenant's, `saved` a file that keeps the book from one run to the next.
    """

    def __init__(
        self,
        amqp_url: str,
        base_url: str,
        api_key: str,
        *,
        exchange: str = "oddsfeed",
        saved: str | Path | None = None,
        book: Book | None = None,
        rest: Rest | None = None,
    ) -> None:
        self._url, self._exchange = amqp_url, exchange
        self._file = StateFile(saved)
        self.book = book or self._loaded()
        self.rest = rest or Rest(base_url, api_key)
        self._stack = AsyncExitStack()
        self._changed = asyncio.Event()
        self._updates: AsyncGenerator[Update, None] | None = None

    def _loaded(self) -> Book:
        # With 0 no results would be replayed: what is settled before the first recovery would be lost.
        return self._file.load(Book.from_json) or Book(after=time.time_ns() // 1_000_000)

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self.rest)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._save(at_once=True)
        if self._updates is not None:  # who leaves the loop leaves it suspended, with its connection open
            await self._updates.aclose()
        await self._stack.aclose()

    async def compare(self) -> Comparison:
        """Compare the book with the service."""
        return await self.rest.compare(self.book.digest())

    def __aiter__(self) -> AsyncIterator[Update]:
        """Each message once it has been applied; never ends but by `ClientError` or cancellation. The
        connection is closed at the end of the client's block."""
        self._updates = self._received()
        return self._updates

    async def _received(self) -> AsyncGenerator[Update, None]:
        while True:
            try:
                async with aclosing(self._connected()) as updates:
                    async for update in updates:
                        yield update
            except ProbableAuthenticationError as error:
                raise ClientError(
                    "The broker refuses the login: check the AMQP credentials and the vhost"
                ) from error
            except (AMQPError, ChannelInvalidStateError, OSError, TimeoutError) as error:
                log.warning("the connection is lost (%r)", error)
            self._suspend()
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _connected(self) -> AsyncGenerator[Update, None]:
        """Consume until the connection ends or is silent; it raises then."""
        async with await aio_pika.connect(self._url, timeout=_CONNECT_SECONDS) as connection:
            channel = await connection.channel()
            await channel.set_qos(prefetch_count=_PREFETCH)
            queue = await channel.declare_queue(exclusive=True)
            await queue.bind(self._exchange, "#")
            self._suspend()
            incoming = asyncio.Queue[aio_pika.abc.AbstractIncomingMessage | None]()
            connection.close_callbacks.add(lambda *_: incoming.put_nowait(None))
            await queue.consume(incoming.put)
            recovery = asyncio.create_task(self._recover())
            try:
                while message := await self._next(incoming, recovery):
                    for update in self._applied(message):
                        yield update
                    await message.ack()
                    self._save()
            finally:
                recovery.cancel()
                await asyncio.gather(recovery, return_exceptions=True)
        raise ConnectionError("it was closed")

    async def _next(
        self, incoming: "asyncio.Queue[Any]", recovery: "asyncio.Task[None]"
    ) -> aio_pika.abc.AbstractIncomingMessage | None:
        """The next message, None when the connection has ended; raises what ended the recovering task."""
        getting = asyncio.create_task(incoming.get())
        try:
            done, _ = await asyncio.wait(
                {getting, recovery}, timeout=_SILENCE_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if recovery in done:
                recovery.result()
            if getting not in done:
                raise _Silent(f"nothing came for {_SILENCE_SECONDS:.0f} s")
            found: aio_pika.abc.AbstractIncomingMessage | None = getting.result()
            return found
        finally:
            getting.cancel()

    def _applied(self, message: aio_pika.abc.AbstractIncomingMessage) -> list[Update]:
        try:
            decoded = decode(message.body)
        except ValueError as error:
            log.error("a message cannot be read (%s); everything is recovered", error)
            self._suspend()
            return []
        if decoded is None:
            return []
        numbers = (int(str(message.headers.get(name) or 0)) for name in ("x-seq", "x-prev-seq"))
        applied = self.book.receive(decoded, *numbers, received=time.time_ns() // 1_000_000)
        self._changed.set()
        return [Update(each) for each in applied]

    def _suspend(self) -> None:
        self.book.suspend()
        self._changed.set()

    async def _recover(self) -> None:
        """Request what was missed whenever that is due, without end."""
        book = self.book
        while True:
            while not book.due and not book.recovery:
                await self._change()
            book.begin_recovery(str(time.time_ns() // 1000))
            number = book.recovery
            answer = await self.rest.request_recovery(max(0, book.after - _OVERLAP_MILLIS), number)
            if answer.too_old:
                book.after = 0  # too long ago: only the present can be replayed
            with suppress(TimeoutError):
                async with asyncio.timeout(_RECOVERY_SECONDS if answer.accepted else answer.wait):
                    while book.recovery == number:
                        await self._change()

    async def _change(self) -> None:
        """Wait until the book has changed since this was last called."""
        await self._changed.wait()
        self._changed.clear()

    def _save(self, *, at_once: bool = False) -> None:
        """Store the book, at most once a second, never in the middle of a recovery."""
        if not (self.book.recovery or self.book.due):
            self._file.save(self.book.to_json, at_once=at_once)
