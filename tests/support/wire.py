"""The application behind a real server, and bytes sent to it as they are."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from litestar import Litestar

from app.cli.serve_commands import server_config, tls_listener
from app.http.server import Listening, Server
from app.settings import Settings
from tests.support.applications import application
from tests.support.ports import listener

_PATIENCE_SECONDS = 60


@asynccontextmanager
async def serving_http(settings: Settings, *ports: int) -> AsyncIterator[int]:
    """The port on which our application is served over HTTP with these settings, as by `listening`."""
    with application(settings) as app:
        async with listening(app, settings, *ports) as port:
            yield port


@asynccontextmanager
async def listening(app: Litestar, settings: Settings | None = None, *ports: int) -> AsyncIterator[int]:
    """The port on which `app` is served over HTTP, as `serve` serves it; the first of `ports`, if any. The
    SDK address, if the settings have one, comes with it. An application that is not ours announces
    nothing."""
    settings = settings or Settings()
    sdk = listener(settings.sdk_port) if settings.sdk_port else None
    tls = tls_listener(sdk, settings) if sdk else None
    parts = app.state.get("parts")
    server = Server(server_config(app, settings), tls, parts.listening if parts else Listening())
    sockets = [listener(port) for port in ports or (0,)]
    sockets += [sdk] if sdk and not tls else []
    running = asyncio.create_task(server.serve(sockets))
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while not server.started:
                await asyncio.sleep(0.01)
        yield sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await running


async def send(port: int, request: bytes) -> httpx.Response:
    """The server's response to these bytes, valid or not."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await receive(reader)
    finally:
        writer.transport.abort()


async def receive(reader: asyncio.StreamReader) -> httpx.Response:
    """The next response on a connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")[:-2]
    headers = httpx.Headers(
        [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    )
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return httpx.Response(int(status.split()[1]), headers=headers, content=body)
