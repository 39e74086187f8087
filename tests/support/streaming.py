"""The stream, served over real sockets, and clients that subscribe to it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import uvicorn
import websockets
from websockets.asyncio.client import ClientConnection, connect

from app.channels.stream.transports import RawFrameProtocol
from app.kit.clock import Clock, system_clock
from app.main import create_app
from app.settings import Settings
from tests.support import ports

Message = dict[str, Any]


@asynccontextmanager
async def streaming(
    settings: Settings, clock: Clock = system_clock, ws: Any = RawFrameProtocol, buffer: int = 0
) -> AsyncIterator[str]:
    """A web process in this one, on a port of its own: its host and port. `buffer`: what its sockets hold
    of unread data."""
    config = uvicorn.Config(
        create_app(settings, clock),
        ws=ws,
        ws_per_message_deflate=False,
        log_config=None,
        access_log=False,
    )
    server = uvicorn.Server(config)
    listener = ports.listener()
    if buffer:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        assert not running.done(), "the web process did not start"
        await asyncio.sleep(0.01)
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running


@asynccontextmanager
async def subscribed(
    host: str, raw: str, ref: str = "", since: int | None = None, **options: Any
) -> AsyncIterator[ClientConnection]:
    """A connection to the stream of all matches, or of the one that `ref` names."""
    query = f"api_key={raw}" + ("" if since is None else f"&since={since}")
    path = f"/cs2/v1/stream/{ref}" if ref else "/cs2/v1/stream"
    async with connect(f"ws://{host}{path}?{query}", compression=None, max_size=None, **options) as client:
        yield client


async def next_frame(client: ClientConnection, seconds: float = 60) -> Message:
    """The next frame."""
    async with asyncio.timeout(seconds):
        return msgspec.json.decode(await client.recv())


async def until_alive(client: ClientConnection) -> list[Message]:
    """All frames up to the next `alive`, that one included."""
    frames = [await next_frame(client)]
    while frames[-1]["type"] != "alive":
        frames.append(await next_frame(client))
    return frames


async def refusal(host: str, path: str, **options: Any) -> websockets.Response:
    """The HTTP response to an upgrade that is refused."""
    try:
        async with connect(f"ws://{host}{path}", compression=None, **options):
            raise AssertionError("the upgrade was accepted")
    except websockets.InvalidStatus as error:
        return error.response
