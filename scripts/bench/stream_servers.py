"""The two servers that are compared, each in a process of its own that sends on command."""

import asyncio
import multiprocessing
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection as Pipe
from typing import Any, Self

import msgspec
import uvicorn
import uvloop
from websockets.asyncio.server import ServerConnection, broadcast, serve

from app.channels.stream.connection import RawFrameProtocol, frame_texts
from app.channels.stream.frames import FrameBatch
from app.channels.stream.poller import Poller
from app.kit import logging
from app.main import create_app
from app.settings import Settings

_NEVER = 86_400_000


class Sent(msgspec.Struct, frozen=True):
    """What a server sent to each client: when it began, when it began to write, the seconds of its processor
    meanwhile, the frames' sizes on the wire, and their texts."""

    begun_at: float
    written_at: float
    cpu: float
    sizes: Sequence[int]
    frames: Sequence[str]


class Process:
    """A server in a process of its own, and the pipe that commands it to send."""

    def __init__(self, run: Callable[[Settings, Pipe], None], settings: Settings) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=run, args=(settings, theirs), daemon=True)
        self.port = 0

    async def __aenter__(self) -> Self:
        self._process.start()
        self.port = await asyncio.to_thread(self._pipe.recv)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.terminate()
        await asyncio.to_thread(self._process.join, 10)

    async def send(self, frames: Sequence[str]) -> Sent:
        """Have it send: what is new, or these frames."""
        self._pipe.send(list(frames))
        answer: Sent = await asyncio.to_thread(self._pipe.recv)
        return answer


def serving(settings: Settings, pipe: Pipe) -> None:
    """The service, which polls for changes only on command."""
    logging.configure("bench", level="ERROR")
    slow = {"stream_poll_all_millis": _NEVER, "stream_connections": 100_000, "alive_seconds": _NEVER}
    uvloop.run(_serve(msgspec.structs.replace(settings, **slow), pipe))


async def _serve(settings: Settings, pipe: Pipe) -> None:
    pollers: list[Poller] = []
    begin = Poller.begin

    async def recorded(self: Poller) -> None:
        pollers[:] = [self]
        await begin(self)

    Poller.begin = recorded  # type: ignore[method-assign]
    config = uvicorn.Config(
        create_app(settings),
        port=0,
        ws=RawFrameProtocol,
        ws_per_message_deflate=False,
        ws_ping_interval=None,
        access_log=False,
        log_config=None,
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    pipe.send(server.servers[0].sockets[0].getsockname()[1])
    while await asyncio.to_thread(pipe.recv) is not None:
        pipe.send(await _tick(pollers[0]))
    await running


async def _tick(poller: Poller) -> Sent:
    written: list[tuple[float, FrameBatch]] = []
    fan_out = poller._fan_out

    async def timed(due: Any, alive: Any) -> None:
        written.append((time.perf_counter(), next(batch for _, batch in due if batch)))
        await fan_out(due, alive)

    poller._fan_out = timed  # type: ignore[method-assign]
    cpu, begun = time.process_time(), time.perf_counter()
    await poller.tick()
    await _drained(poller)
    used = time.process_time() - cpu
    poller._fan_out = fan_out  # type: ignore[method-assign]
    at, batch = written[0]
    frames = [text for frame in batch.frames for text in frame_texts(frame.wire)]
    return Sent(begun, at, used, [len(frame.wire) for frame in batch.frames], frames)


async def _drained(poller: Poller) -> None:
    """Until every connection's frames have been handed to the socket."""
    connections = [one for members in poller._connections.values() for one in members]
    while any(one.queued or one._transport.congested for one in connections):
        await asyncio.sleep(0.002)


def broadcasting(settings: Settings, pipe: Pipe) -> None:
    """The reference: every frame is broadcast to every client."""
    uvloop.run(_broadcast(pipe))


async def _broadcast(pipe: Pipe) -> None:
    clients: set[ServerConnection] = set()

    async def handle(client: ServerConnection) -> None:
        clients.add(client)
        try:
            await client.wait_closed()
        finally:
            clients.discard(client)

    async with serve(handle, "127.0.0.1", 0, compression=None, ping_interval=None) as server:
        pipe.send(next(iter(server.sockets)).getsockname()[1])
        while (frames := await asyncio.to_thread(pipe.recv)) is not None:
            cpu, begun = time.process_time(), time.perf_counter()
            for frame in frames:
                broadcast(clients, frame)
            while any(one.transport.get_write_buffer_size() for one in clients):
                await asyncio.sleep(0.002)
            used = time.process_time() - cpu
            pipe.send(Sent(begun, begun, used, [_on_the_wire(frame) for frame in frames], ()))


def _on_the_wire(frame: str) -> int:
    size = len(frame.encode())
    return size + (2 if size < 126 else 4 if size < 65536 else 10)
