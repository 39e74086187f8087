"""The application behind a real server, and bytes sent to it as they are."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from litestar import Litestar

from app.http.protocol import Protocol

_PATIENCE_SECONDS = 10


@asynccontextmanager
async def listening(app: Litestar) -> AsyncIterator[int]:
    """The port on which `app` is served over HTTP, as `serve` serves it."""
    config = uvicorn.Config(
        app, port=0, http=Protocol, access_log=False, log_config=None, server_header=False
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while not server.started:
                await asyncio.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await running


async def send(port: int, request: bytes) -> httpx.Response:
    """What the server says to these bytes, whatever they are."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        async with asyncio.timeout(_PATIENCE_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
            status, *lines = head.decode("latin-1").split("\r\n")[:-2]
            headers = httpx.Headers(
                [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
            )
            body = await reader.readexactly(int(headers.get("content-length", "0")))
    finally:
        writer.transport.abort()
    return httpx.Response(int(status.split()[1]), headers=headers, content=body)
