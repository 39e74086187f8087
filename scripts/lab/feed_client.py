"""A tenant's client of the feed: keeps the reference client's book, recovers by its rules, and records what
it receives."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import Any

import httpx
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, AbstractQueue

from app.broker.connection import FAILURES, open_connection
from scripts.consumer import OVERLAP_MILLIS, Book
from scripts.lab.evidence import Delivery, Recovery, numbers, read
from scripts.lab.operators import Account

_CONNECT_SECONDS, _AGAIN_SECONDS, _SILENT_SECONDS = 10.0, 1.0, 20.0
_IN_FLIGHT_SECONDS = 3.0  #: another recovery of the tenant runs for so long, mostly
_BOOK_SECONDS, _COMPARISON_SECONDS = 180.0, 30.0
_ALIVE = "-.-.-.alive."  #: the beginning of its routing key
_SHOWN = 5  #: differences of a book
_DELAYS = 20_000


def log_no_lost_connections(*others: str) -> None:
    """The libraries, and these `others`, log each with its traceback."""
    for name in ("aiormq", "aio_pika", *others):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class FeedClient:
    """Connects again by itself, unless it is away. It counts messages `received`, `connections`, and requests
    for recoveries that were `accepted` and `refused`. Who reads `delays` (ms from log line to queue) clears
    them; only the last ones are there.

    `durable`: its queue outlives its connections. `recording`: every message is added to `deliveries`. A
    recovery without an end is requested again after `patience` seconds; `notify` receives a line for each.
    Requests are waited for `seconds`.
    """

    def __init__(
        self,
        account: Account,
        base_url: str,
        *,
        durable: bool = False,
        recording: bool = True,
        patience: float = 600.0,
        seconds: float = 30.0,
        notify: Callable[[str], None] = lambda _: None,
        book: Book | None = None,
    ) -> None:
        self.account, self.book = account, book or Book()
        self.book.after = time.time_ns() // 1_000_000
        self.book.due.set()
        self.deliveries = list[Delivery]()
        self.recoveries = list[Recovery]()
        self.away = list[tuple[float, float]]()
        self.delays = deque[int](maxlen=_DELAYS)
        self.received = self.connections = self.accepted = self.refused = 0
        self._durable, self._recording = durable, recording
        self._patience, self._notify = patience, notify
        self._http = httpx.AsyncClient(base_url=base_url, timeout=seconds, trust_env=False)
        self._reasons = set[str]()
        self._changed, self._here = asyncio.Event(), asyncio.Event()
        self._here.set()
        self._incoming: asyncio.Queue[AbstractIncomingMessage | None] = asyncio.Queue()
        self._dropped = False
        self._task = asyncio.create_task(self._run())

    @property
    def slug(self) -> str:
        return self.account.slug

    @property
    def complete(self) -> bool:
        """Whether nothing is missing, as far as it knows."""
        return self._here.is_set() and not self.book.due.is_set() and not self.book.request

    def check(self) -> None:
        """Raises the error that ended it, if it has ended."""
        if self._task.done():
            self._task.result()
            raise RuntimeError(f"the client of {self.slug} has ended")

    def disconnect(self) -> None:
        """Drop the connection and all unread messages; it connects again soon."""
        self._dropped = True
        self._incoming.put_nowait(None)

    async def leave(self, seconds: float) -> None:
        """Disconnect, and come back after so long."""
        if not self._here.is_set():
            return
        self._here.clear()
        self.disconnect()
        began = time.time()
        await asyncio.sleep(seconds)
        self.away.append((began, time.time()))
        self._here.set()

    def recover(self) -> None:
        """Request a recovery without need."""
        self._suspend("wish")

    async def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """A request with the tenant's present key."""
        return await self._http.request(method, path, headers={"X-API-Key": self.account.key}, **options)

    async def comparison(self) -> dict[str, Any] | None:
        """How the book differs from what REST has on offer, by the self-check; None during a recovery."""
        if not self.complete:
            return None
        digest = self.book.digest()
        response = await self.request("POST", "/cs2/v1/selfcheck", json=digest, timeout=_COMPARISON_SECONDS)
        data: dict[str, Any] = response.raise_for_status().json()["data"]
        return data

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
            try:
                await self._listen()
                self._on_lost(ConnectionError("it was closed"))
            except FAILURES as error:
                self._on_lost(error)
            await asyncio.sleep(_AGAIN_SECONDS)

    def _on_connected(self) -> None:
        """It will receive everything from now on."""

    def _on_lost(self, error: BaseException) -> None:
        """The connection has ended, or was silent for too long."""
        self.book.suspend()

    async def _listen(self) -> None:
        async with open_connection(self.account.amqp_url, _CONNECT_SECONDS) as connection:
            queue = await self._queue(await connection.channel())
            incoming = self._incoming = asyncio.Queue()
            self._dropped = False
            connection.close_callbacks.add(lambda *_: incoming.put_nowait(None))
            self.connections += 1
            self._on_connected()
            self._suspend("connected")
            await queue.consume(incoming.put, no_ack=not self._durable)
            recovering = asyncio.create_task(self._recover())
            try:
                while (message := await self._next(incoming)) and not self._dropped:
                    self._receive(message)
                    if self._durable:
                        await message.ack()
                    if recovering.done():
                        recovering.result()
            finally:
                recovering.cancel()
                await asyncio.gather(recovering, return_exceptions=True)

    async def _queue(self, channel: AbstractChannel) -> AbstractQueue:
        queue = await (
            channel.declare_queue(f"{self.slug}.book", durable=True)
            if self._durable
            else channel.declare_queue(exclusive=True)
        )
        await queue.bind(self.account.exchange, "#")
        return queue

    async def _next(
        self, incoming: "asyncio.Queue[AbstractIncomingMessage | None]"
    ) -> AbstractIncomingMessage | None:
        """The next message; None when the connection has ended. Raises `TimeoutError` after a silence in
        which not even `alive` came."""
        try:
            async with asyncio.timeout(_SILENT_SECONDS):
                return await incoming.get()
        except TimeoutError as error:
            self._reasons.add("silence")
            raise TimeoutError(f"nothing received for {_SILENT_SECONDS:.0f} s, not even alive") from error

    def _receive(self, message: AbstractIncomingMessage) -> None:
        """Count and record a message, and apply it to the book."""
        moment, (number, previous) = time.time(), numbers(message.headers)
        self.received += 1
        if arrived := message.headers.get("x-arrived-at"):
            self.delays.append(int(moment * 1000) - int(str(arrived)))
        due, notice = self.book.due.is_set(), _is_notice(message)
        self._apply(message, number, previous)
        self.book.after = min(self.book.after, int(moment * 1000))  # the clock of a server may be fast
        if notice or (self.book.due.is_set() and not due):
            self._reasons.add("notice" if notice else "gap")
        if self._recording:
            name = message.message_id or ""
            self._record(read(message.body, message.headers, moment, self.connections, name))
        self._changed.set()

    def _apply(self, message: AbstractIncomingMessage, number: int, previous: int) -> None:
        self.book.receive(message.body, number, previous)

    def _record(self, got: Delivery) -> None:
        self.deliveries.append(got)
        if got.name == "snapshot_complete":
            for each in self.recoveries:
                if each.request == got.request:
                    each.completed = got.moment

    async def _recover(self) -> None:
        """Request what was missed whenever that is due, without end."""
        book = self.book
        while True:
            while not book.due.is_set() and not book.request:
                await self._change()
            number = str(time.time_ns() // 1000)
            book.due.clear()
            book.request, book.replayed = number, set()
            made = Recovery(number, time.time(), tuple(sorted(self._reasons)))
            self.recoveries.append(made)
            self._reasons.clear()
            made.status, pause = await self._request_recovery(number)
            self._notify(f"recovery {number}: {made.status}")
            if made.status == httpx.codes.UNPROCESSABLE_ENTITY:
                book.after = 0  # too long ago: only the present can be replayed
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    while book.request == number:
                        await self._change()
            if book.request == number:  # its reasons hold for the next one
                self._reasons.update(made.reasons)

    async def _change(self) -> None:
        """Wait until something has come since this was last called."""
        await self._changed.wait()
        self._changed.clear()

    async def _request_recovery(self, number: str) -> tuple[int, float]:
        """The status (503 where nobody answers), and after how many seconds another request makes sense."""
        response = await self._post_recovery(max(0, self.book.after - OVERLAP_MILLIS), number)
        if response is None:
            return httpx.codes.SERVICE_UNAVAILABLE, _AGAIN_SECONDS
        status = response.status_code
        self.accepted += response.is_success
        self.refused += not response.is_success
        if response.is_success:
            return status, self._patience
        if status == httpx.codes.CONFLICT:  # its Retry-After is the latest moment: mostly it is sooner
            return status, _IN_FLIGHT_SECONDS
        return status, float(response.headers.get("Retry-After") or _AGAIN_SECONDS)

    async def _post_recovery(self, after: int, number: str) -> httpx.Response | None:
        """The response; None where nobody answers."""
        query: dict[str, str | int] = {"after": after, "request_id": number}
        try:
            return await self.request("POST", "/cs2/v1/recovery/initiate_request", params=query)
        except httpx.HTTPError:
            return None


def _is_notice(message: AbstractIncomingMessage) -> bool:
    """Whether it is an `alive` that reports a loss."""
    alive = (message.routing_key or "").startswith(_ALIVE)
    return alive and b'subscribed="1"' not in message.body


@asynccontextmanager
async def opened_clients(
    kind: Callable[[Account, str], FeedClient], accounts: Sequence[Account], urls: Sequence[str]
) -> AsyncIterator[list[FeedClient]]:
    """A client of this kind for each account; the web processes alternate."""
    everyone = [kind(each, urls[number % len(urls)]) for number, each in enumerate(accounts)]
    try:
        yield everyone
    finally:
        for each in everyone:
            await each.close()


async def different_books(everyone: Sequence[FeedClient]) -> list[str]:
    """Each book that does not come to equal REST's, with how it differs, once nothing happens any more."""
    wrong = []
    for each in everyone:
        found: dict[str, Any] | None = None
        try:
            async with asyncio.timeout(_BOOK_SECONDS):
                while (found := await each.comparison()) is None or found["count"]:
                    await asyncio.sleep(0.5)
        except TimeoutError:
            wrong.append(f"{each.slug}: {_shown(each, found)}")
    return wrong


def _shown(client: FeedClient, found: dict[str, Any] | None) -> str:
    if found is None:
        return f"still recovering, by request {client.book.request or '(not sent)'}"
    return f"{found['count']} differences, at first {found['differences'][:_SHOWN]}"


def longest_silence(
    deliveries: Sequence[Delivery], away: Sequence[tuple[float, float]], since: float, until: float
) -> float:
    """The longest time between two messages from `since` to `until`, without those in which the client was
    away on purpose."""
    moments = [since, *(each.moment for each in deliveries if since <= each.moment <= until), until]
    gaps = (
        after - before
        for before, after in pairwise(moments)
        if not any(begin < after and before < end for begin, end in away)
    )
    return max(gaps, default=0.0)
