"""A tenant's client of the feed: keeps the reference client's book, recovers by its rules, and records every
message."""

import asyncio
import sys
import time
from contextlib import suppress

import httpx
from aio_pika.abc import AbstractIncomingMessage, AbstractQueue

from app.broker.connection import FAILURES, open_connection
from scripts.histories.account import Account
from scripts.lab.evidence import Delivery, Recovery, read
from scripts.lab.record import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "client"))
from matchfeed_client import Book, decode

_CONNECT_SECONDS, _AGAIN_SECONDS, _SILENT_SECONDS = 10.0, 1.0, 20.0
_OVERLAP_MILLIS = 120_000
_RECOVERY_SECONDS = 30.0  #: then it is requested again
_REQUEST_SECONDS = 5.0
_SLOT_SECONDS = 3.0  #: another recovery runs for so long, mostly


class FeedClient:
    """Connects again by itself, unless it is `away`. `durable`: its queue outlives its connections."""

    def __init__(self, account: Account, base_url: str, *, durable: bool) -> None:
        self.book = Book(after=time.time_ns() // 1_000_000)
        self.deliveries = list[Delivery]()
        self.recoveries = list[Recovery]()
        self.away = list[tuple[float, float]]()
        self.connections = 0
        self._account, self._durable = account, durable
        self._http = httpx.AsyncClient(base_url=base_url, timeout=_REQUEST_SECONDS, trust_env=False)
        self._reasons = set[str]()
        self._changed = asyncio.Event()
        self._here = asyncio.Event()
        self._here.set()
        self._incoming: asyncio.Queue[AbstractIncomingMessage | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._run())

    @property
    def complete(self) -> bool:
        """Whether nothing is missing, as far as it knows."""
        return self._here.is_set() and not self.book.due and not self.book.recovery

    def check(self) -> None:
        """Raises the error that ended it, if it has ended."""
        if self._task.done():
            self._task.result()

    async def leave(self, seconds: float) -> None:
        """Disconnect, and come back after so long."""
        if not self._here.is_set():
            return
        self._here.clear()
        self._incoming.put_nowait(None)
        began = time.time()
        await asyncio.sleep(seconds)
        self.away.append((began, time.time()))
        self._here.set()

    def recover(self) -> None:
        """Request a recovery without need."""
        self._suspend("wish")

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})
        await self._http.aclose()

    def _suspend(self, reason: str) -> None:
        self._reasons.add(reason)
        self.book.suspend()
        self._changed.set()

    async def _run(self) -> None:
        while True:
            await self._here.wait()
            with suppress(*FAILURES):
                await self._listen()
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _listen(self) -> None:
        async with open_connection(self._account.amqp_url, _CONNECT_SECONDS) as connection:
            queue = await self._queue(await connection.channel())
            incoming = self._incoming = asyncio.Queue()
            connection.close_callbacks.add(lambda *_: incoming.put_nowait(None))
            self.connections += 1
            self._suspend("connected")
            await queue.consume(incoming.put)
            recovering = asyncio.create_task(self._recover())
            try:
                while message := await self._next(incoming):
                    self._receive(message)
                    await message.ack()
            finally:
                recovering.cancel()
                await asyncio.gather(recovering, return_exceptions=True)

    async def _queue(self, channel: object) -> AbstractQueue:
        declare = channel.declare_queue  # type: ignore[attr-defined]
        name = f"{self._account.slug}.book"
        queue: AbstractQueue = await (
            declare(name, durable=True) if self._durable else declare(exclusive=True)
        )
        await queue.bind(self._account.exchange, "#")
        return queue

    async def _next(
        self, incoming: "asyncio.Queue[AbstractIncomingMessage | None]"
    ) -> AbstractIncomingMessage | None:
        """The next message; None when the connection has ended or was silent for too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_SILENT_SECONDS):
                return await incoming.get()
        self._reasons.add("silence")
        return None

    def _receive(self, message: AbstractIncomingMessage) -> None:
        got = read(message.body, message.headers, time.time(), self.connections)
        self.deliveries.append(got)
        decoded = decode(message.body)
        if decoded is None:
            return
        due = self.book.due
        self.book.receive(decoded, got.number, got.previous, received=int(got.moment * 1000))
        if self.book.due and not due:
            self._reasons.add("notice" if got.name == "alive" else "gap")
        elif got.name == "alive" and got.subscribed != "1":
            self._reasons.add("notice")
        if got.name == "snapshot_complete":
            for each in self.recoveries:
                if each.request == got.request:
                    each.completed = got.moment
        self._changed.set()

    async def _recover(self) -> None:
        """Request what was missed whenever that is due, without end."""
        book = self.book
        while True:
            while not book.due and not book.recovery:
                await self._changed.wait()
                self._changed.clear()
            number = str(time.time_ns() // 1000)
            book.begin_recovery(number)
            made = Recovery(number, time.time(), tuple(sorted(self._reasons)))
            self.recoveries.append(made)
            self._reasons.clear()
            made.status = await self._request(number)
            if made.status == 422:
                book.after = 0
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience(made.status)):
                    while book.recovery == number:
                        await self._changed.wait()
                        self._changed.clear()
            if book.recovery == number:  # its reasons hold for the next one
                self._reasons.update(made.reasons)

    @staticmethod
    def _patience(status: int) -> float:
        if status < 300:
            return _RECOVERY_SECONDS
        return _SLOT_SECONDS if status == 409 else _AGAIN_SECONDS

    async def _request(self, number: str) -> int:
        """The status of the response; 503 where nobody answers."""
        after = max(0, self.book.after - _OVERLAP_MILLIS)
        try:
            response = await self._http.post(
                "/cs2/v1/recovery/initiate_request",
                params={"after": after, "request_id": number},
                headers={"X-API-Key": self._account.key},
            )
        except httpx.TransportError:
            return 503
        return response.status_code
