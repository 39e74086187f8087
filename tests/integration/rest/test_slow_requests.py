"""Requests that never end, bodies that nobody reads, connections without number: each is ended in time, and
nobody waits for it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec
import pytest

from app.cli.serve_commands import server_config
from app.main import create_app
from app.settings import Settings
from tests.support.web import IssueKey
from tests.support.wire import receive, send, serving_http

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
SECONDS, PATIENCE = 0.3, 20


@pytest.fixture
async def port(settings: Settings) -> AsyncIterator[int]:
    hurried = msgspec.structs.replace(
        settings, head_seconds=SECONDS, body_seconds=SECONDS, connections_per_address=8
    )
    async with serving_http(hurried) as port:
        yield port


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


class Listening(asyncio.Protocol):
    """What the server sends until it closes the connection: all of it, even if that is a reset."""

    def __init__(self) -> None:
        self.received, self.over = b"", asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.received += data

    def connection_lost(self, exc: Exception | None) -> None:
        self.over.set()


async def drip(transport: asyncio.WriteTransport, text: bytes) -> None:
    """Send for ever, a byte at a time."""
    while not transport.is_closing():
        transport.write(text)
        await asyncio.sleep(SECONDS / 10)


async def test_a_connection_outlasts_what_clients_and_balancers_reuse(settings: Settings) -> None:
    """Else a request on a connection that the server closes at that moment fails, and may not be repeated."""
    assert server_config(create_app(settings), settings).timeout_keep_alive > 60


async def ended(port: int, begin: bytes, drop: bytes = b"") -> bytes:
    """What the server sends before it closes a connection that begins so and goes on with `drop`."""
    transport, client = await asyncio.get_running_loop().create_connection(Listening, "127.0.0.1", port)
    transport.write(begin)
    dripping = asyncio.create_task(drip(transport, drop)) if drop else None
    try:
        async with asyncio.timeout(PATIENCE):
            await client.over.wait()
    finally:
        transport.abort()
        if dripping:
            dripping.cancel()
    return client.received


async def test_connections_with_unfinished_heads_and_bodies_are_closed(port: int, issue: IssueKey) -> None:
    key = b"X-API-Key: " + (await issue(bundles=("cs2.odds.basic",))).encode() + b"\r\n"
    post = b"POST /cs2/v1/selfcheck HTTP/1.1\r\nHost: x\r\n" + key
    first = b"GET /v1/alive HTTP/1.1\r\nHost: x\r\n\r\n"
    slow = [
        (b"", b""),
        (b"GET /v1/alive", b""),
        (b"GET /v1/alive HTTP/1.1\r\n", b"X-A: b\r\n"),
        (b"GET /", b"a"),
        (post + b"Content-Length: 100000\r\n\r\n", b""),
        (post + b"Content-Length: 100000\r\n\r\n{", b" "),
        (post + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (first + b"GET /v1/alive HTTP/1.1\r\n", b"X-A: b\r\n"),
    ]
    for begin, drop in slow:
        received = await ended(port, begin, drop)
        assert b"HTTP/1.1 408 " in received and b'{"detail":"The request took too long' in received, begin


async def test_requests_in_time_are_not_touched_by_it(port: int, issue: IssueKey) -> None:
    """Nor is a connection that is used again and again, for longer than one request may take."""
    key = (await issue(bundles=("cs2.odds.basic",), rate_limit_rpm=1_000_000)).encode()
    request = b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\nX-API-Key: " + key + b"\r\n\r\n"
    begun = time.monotonic()
    async with connected(port) as (reader, writer), asyncio.timeout(PATIENCE):
        while time.monotonic() - begun < 5 * SECONDS:
            writer.write(request)
            assert (await receive(reader)).status_code == 200


async def test_the_end_of_a_large_unread_body_is_not_awaited(port: int, issue: IssueKey) -> None:
    """It is answered at once, whatever is still to come, and then the connection ends."""
    key = b"X-API-Key: " + (await issue(bundles=("cs2.odds.basic",))).encode() + b"\r\n"
    for target, status in ((b"/cs2/v1/nowhere", b"404"), (b"/cs2/v1/selfcheck", b"413")):
        async with connected(port) as (reader, writer), asyncio.timeout(PATIENCE):
            writer.write(b"POST " + target + b" HTTP/1.1\r\nHost: x\r\n" + key)
            writer.write(b"Content-Length: 100000000\r\n\r\n" + b" " * 1000)
            received = await reader.read()
        assert received.startswith(b"HTTP/1.1 " + status) and received.count(b"HTTP/1.1") == 1, received


async def test_an_unread_body_that_ends_leaves_the_connection_open(port: int) -> None:
    """A client that reads no answer before it has sent all gets that answer, too."""
    async with connected(port) as (reader, writer), asyncio.timeout(PATIENCE):
        for size in (1000, 3_000_000, 1000):
            writer.write(b"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size)
            writer.write(b" " * size)
            await writer.drain()
            assert (await receive(reader)).status_code == 404


async def test_an_address_holds_so_many_connections(port: int, issue: IssueKey) -> None:
    key = (await issue(bundles=("cs2.odds.basic",))).encode()
    request = b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\nX-API-Key: " + key + b"\r\n\r\n"
    async with AsyncExitStack() as stack:
        for _ in range(8):
            _, writer = await stack.enter_async_context(connected(port))
            writer.write(request)
        refused = await send(port, request)
        assert refused.status_code == 429 and refused.headers["retry-after"] == "1"
        assert "connections" in refused.json()["detail"]
    async with asyncio.timeout(PATIENCE):
        while (await send(port, request)).status_code != 200:
            pass
