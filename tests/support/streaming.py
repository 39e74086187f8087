"""The stream, served over real sockets, and clients that subscribe to it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, cast

import httpx
import msgspec
import uvicorn
import websockets
from prometheus_client import REGISTRY
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from app.channels.stream.connection import RawFrameProtocol
from app.http.server import ConnectionLimits, HttpProtocol
from app.kit.clock import Clock, system_clock
from app.settings import Settings
from app.store.connections import Store
from tests.support import ports, stored
from tests.support.applications import application

Message = dict[str, Any]


@asynccontextmanager
async def streaming(
    settings: Settings, clock: Clock = system_clock, ws: Any = RawFrameProtocol, buffer: int = 0
) -> AsyncIterator[str]:
    """A web process in this one, on a port of its own: its host and port. `buffer`: what its sockets hold
    of unread data."""
    with application(settings, clock) as app:
        config = uvicorn.Config(
            app,
            http=cast(Any, partial(HttpProtocol, limits=ConnectionLimits())),
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
    """A connection to the stream of all matches, or of the one that `ref` names. As most clients do, it
    offers compression."""
    query = f"api_key={raw}" + ("" if since is None else f"&since={since}")
    path = f"/cs2/v1/stream/{ref}" if ref else "/cs2/v1/stream"
    async with connect(f"ws://{host}{path}?{query}", max_size=None, **options) as client:
        yield client


async def next_frame(client: ClientConnection) -> Message:
    """The next frame."""
    async with asyncio.timeout(60):
        return msgspec.json.decode(await client.recv())


async def until_alive(client: ClientConnection) -> list[Message]:
    """All frames up to the next `alive`, that one included."""
    frames = [await next_frame(client)]
    while frames[-1]["type"] != "alive":
        frames.append(await next_frame(client))
    return frames


async def until_present(client: ClientConnection, store: Store) -> list[Message]:
    """All frames up to an `alive` that covers every change made so far."""
    present, frames = await stored.head(store), await until_alive(client)
    while frames[-1]["meta"]["seq"] < present:
        frames += await until_alive(client)
    return frames


async def closed(client: ClientConnection) -> int:
    """The code with which the server closes it, whatever it sends before."""
    async with asyncio.timeout(60):
        with suppress(ConnectionClosed):
            while True:
                await client.recv()
    return client.close_code or 0


def closed_so_far(code: int) -> float:
    """How many clients the web processes in this one have closed with that code."""
    return REGISTRY.get_sample_value("matchfeed_stream_closed_total", {"code": str(code)}) or 0


async def shown_by_rest(host: str, raw: str, path: str) -> Any:
    """What REST shows under `path` to the same key."""
    async with httpx.AsyncClient(base_url=f"http://{host}", headers={"X-API-Key": raw}) as rest:
        return (await rest.get(path)).raise_for_status().json()["data"]


async def refusal(host: str, path: str, **options: Any) -> websockets.Response:
    """The HTTP response to an upgrade that is refused."""
    try:
        async with connect(f"ws://{host}{path}", **options):
            raise AssertionError("the upgrade was accepted")
    except websockets.InvalidStatus as error:
        return error.response
