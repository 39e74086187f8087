"""Servers that a benchmark measures, in a process of their own."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeAlias

import uvicorn

from app.http.server import ConnectionLimits, HttpProtocol
from app.kit.garbage_collection import spare_long_lived_objects

PortQueue: TypeAlias = "multiprocessing.Queue[tuple[int, ...]]"


async def run_servers(apps: tuple[Any, ...], ports: PortQueue, **options: Any) -> None:
    """Serve each application on a free port, without end; send the ports in their order. As in a process of
    the service, connections are those of `HttpProtocol`, and what they have loaded is not collected again and
    again."""
    http = partial(HttpProtocol, limits=ConnectionLimits())
    options = {"access_log": False, "log_config": None, "http": http, **options}
    servers = [uvicorn.Server(uvicorn.Config(app, port=0, **options)) for app in apps]
    running = [asyncio.create_task(server.serve()) for server in servers]
    while not all(server.started for server in servers):
        await asyncio.sleep(0.01)
    spare_long_lived_objects()
    ports.put(tuple(server.servers[0].sockets[0].getsockname()[1] for server in servers))
    await asyncio.gather(*running)


@asynccontextmanager
async def server_process(serve: Callable[..., None], *arguments: Any) -> AsyncIterator[tuple[int, Any]]:
    """A process that calls `serve` with these arguments and a queue for its ports; its id, and the ports."""
    context = multiprocessing.get_context("spawn")
    ports = context.Queue()
    process = context.Process(target=serve, args=(*arguments, ports), daemon=True)
    process.start()
    try:
        yield process.pid or 0, await asyncio.to_thread(ports.get, timeout=60)
    finally:
        process.terminate()
        process.join(10)
