"""The tenants: each keeps the reference client's book over its own queue, and requests what it has missed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple, TypeVar

import httpx
from aio_pika.abc import AbstractIncomingMessage
from aio_pika.exceptions import AMQPError

from app.access import admin
from app.access.api_keys import KeyProperties
from app.broker.connection import open_connection
from app.broker.management import Management
from app.kit.clock import system_clock
from app.settings import Settings
from app.store.connections import Store
from scripts.bench.feed_rig import provisioned
from scripts.consumer import Book, recover
from scripts.http_client import client
from scripts.soak.soaked_service import SoakedService

_CONNECT_SECONDS, _SILENT_SECONDS, _AGAIN_SECONDS = 10.0, 20.0, 1.0
_IN_FLIGHT_SECONDS = 3.0  #: until a recovery is requested again after another one of the tenant
_LOST = (AMQPError, OSError, TimeoutError, RuntimeError)
_RIGHTS = KeyProperties(bundles=("cs2.odds.basic",), rate_limit_rpm=100_000)


class Customer(NamedTuple):
    """A tenant: its slug, its AMQP URL, and an API key of its own."""

    slug: str
    url: str
    key: str


class Bookmaker:
    """One tenant, with counters; a reader of `delays` (ms from log line to queue) clears them. `url` may be
    replaced: the next connection goes there."""

    def __init__(self, slug: str, url: str, exchange: str, rest: httpx.AsyncClient) -> None:
        self.slug, self.url, self.rest = slug, url, rest
        self._exchange = exchange
        self.book = Book()
        self.delays: list[int] = []
        self.received = self.connections = self.recoveries = self.refusals = 0
        self._incoming: asyncio.Queue[AbstractIncomingMessage | None] = asyncio.Queue()
        self._disconnected = False
        self._task = asyncio.create_task(self._run())

    def disconnect(self) -> None:
        """Drop the connection and all unread messages, without suspending the book."""
        self._disconnected = True
        self._incoming.put_nowait(None)

    def request_recovery(self) -> None:
        """Suspend the book, so that it requests a recovery."""
        self.book.suspend()

    @property
    def waiting(self) -> bool:
        return bool(self.book.request) or self.book.due.is_set()

    async def comparison(self) -> dict[str, Any] | None:
        """How the book differs from what REST has on offer, by the self-check; None during a recovery."""
        if self.waiting:
            return None
        answer = await self.rest.post("/cs2/v1/selfcheck", json=self.book.digest())
        data: dict[str, Any] = answer.raise_for_status().json()["data"]
        return data

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})
        await self.rest.aclose()

    def check(self) -> None:
        """Raises the error that ended it, if it has ended."""
        if self._task.done():
            self._task.result()
            raise RuntimeError(f"bookmaker {self.slug} has ended")

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except* _LOST:
                self.book.suspend()
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _listen(self) -> None:
        async with open_connection(self.url, _CONNECT_SECONDS) as connection, asyncio.TaskGroup() as group:
            queue = await (await connection.channel()).declare_queue(exclusive=True)
            await queue.bind(self._exchange, "#")
            self.connections += 1
            self._incoming, self._disconnected = asyncio.Queue(), False
            self.book.suspend()
            group.create_task(recover(self.book, self._request_recovery))
            connection.close_callbacks.add(lambda *_: self._incoming.put_nowait(None))
            await queue.consume(self._incoming.put, no_ack=True)
            while (message := await self._next()) and not self._disconnected:
                self.receive(message)
            raise ConnectionError("disconnected")

    async def _next(self) -> AbstractIncomingMessage | None:
        """The next message; None when the connection has ended. Raises `TimeoutError` after a silence in
        which not even `alive` came."""
        async with asyncio.timeout(_SILENT_SECONDS):
            return await self._incoming.get()

    def receive(self, message: AbstractIncomingMessage) -> None:
        """Count a message, and apply it to the book."""
        headers = message.headers
        seq, prev = (int(str(headers.get(name, 0))) for name in ("x-seq", "x-prev-seq"))
        if arrived := headers.get("x-arrived-at"):
            self.delays.append(system_clock() - int(str(arrived)))
        self.received += 1
        self.book.receive(message.body, seq, prev)

    async def _request_recovery(self, after: int, request_id: str) -> tuple[int, float]:
        try:
            answer = await self.rest.post(
                "/cs2/v1/recovery/initiate_request", params={"after": after, "request_id": request_id}
            )
        except httpx.HTTPError:
            return 503, _AGAIN_SECONDS
        self.recoveries += answer.status_code == 202
        self.refusals += answer.status_code != 202
        if answer.status_code == httpx.codes.CONFLICT:  # its Retry-After is the latest moment: mostly sooner
            return answer.status_code, _IN_FLIGHT_SECONDS
        return answer.status_code, float(answer.headers.get("Retry-After") or _AGAIN_SECONDS)


Kind = TypeVar("Kind", bound=Bookmaker)


async def new_customers(
    settings: Settings, store: Store, count: int, stack: AsyncExitStack
) -> list[Customer]:
    """New tenants, with a vhost and a key."""
    management = await stack.enter_async_context(Management(settings.rabbitmq_api_url))
    made = []
    for _ in range(count):
        slug, url = await provisioned(settings, store, management, stack)
        async with store.transaction() as tx:
            issued = await admin.issue_key(tx, slug, _RIGHTS, secret=settings.secret_key, by="soak", now=1)
        made.append(Customer(slug, url, issued.raw))
    return made


@asynccontextmanager
async def bookmakers_of(
    kind: type[Kind], customers: Sequence[Customer], exchange: str, service: SoakedService
) -> AsyncIterator[list[Kind]]:
    """One for each customer; the web processes alternate."""
    everyone = []
    for number, each in enumerate(customers):
        rest = client(service.clients[number % len(service.clients)].base_url, each.key)
        everyone.append(kind(each.slug, each.url, exchange, rest))
    try:
        yield everyone
    finally:
        for bookmaker in everyone:
            await bookmaker.close()
