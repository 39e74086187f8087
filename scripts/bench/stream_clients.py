"""Many clients of a WebSocket server that only listen: they count bytes, and note when they came."""

import asyncio
import base64
import os
import time
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Self

_END = b"\r\n\r\n"
_AT_ONCE = 50
_HEAD = ("Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")


class Listener(asyncio.Protocol):
    """One client, which does the handshake itself. `log` has the bytes received so far and when."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._head = b""
        self.open = asyncio.get_running_loop().create_future()
        self.received = 0
        self.log: list[tuple[int, float]] = []
        self.transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        if not self.open.done():
            self._head += data
            if _END not in self._head:
                return
            if not self._head.startswith(b"HTTP/1.1 101"):
                self.open.set_exception(RuntimeError(self._head[:300].decode(errors="replace")))
                return
            data = self._head.partition(_END)[2]
            self.open.set_result(None)
        self.received += len(data)
        self.log.append((self.received, time.perf_counter()))

    def connection_lost(self, error: Exception | None) -> None:
        if not self.open.done():
            self.open.set_exception(error or RuntimeError("the server hung up"))


def _itself(one: Listener) -> Listener:
    return one


class Audience:
    """Clients that all receive the same."""

    def __init__(self, listeners: list[Listener]) -> None:
        self._listeners = listeners
        self._marks = [0] * len(listeners)

    def __len__(self) -> int:
        return len(self._listeners)

    @classmethod
    async def gathered(cls, port: int, path: str, clients: int) -> Self:
        """So many clients, connected, once none of them receives anything more."""
        loop = asyncio.get_running_loop()
        listeners: list[Listener] = []
        for begin in range(0, clients, _AT_ONCE):
            for _ in range(min(_AT_ONCE, clients - begin)):
                key = base64.b64encode(os.urandom(16)).decode()
                lines = [f"GET {path} HTTP/1.1", *_HEAD, f"Sec-WebSocket-Key: {key}", "", ""]
                one = Listener("\r\n".join(lines).encode())
                await loop.create_connection(partial(_itself, one), "127.0.0.1", port)
                listeners.append(one)
            await asyncio.gather(*(one.open for one in listeners[begin:]))
        audience = cls(listeners)
        await audience._silent()
        return audience

    async def received(self, sizes: Sequence[int]) -> list[tuple[float, int]]:
        """Wait until all have received frames of these sizes; when each was complete, at each client."""
        ends = list(accumulate(sizes))
        deadline = time.perf_counter() + 60
        while any(
            one.received - mark < ends[-1] for one, mark in zip(self._listeners, self._marks, strict=True)
        ):
            if time.perf_counter() > deadline:
                raise RuntimeError("some clients did not receive everything")
            await asyncio.sleep(0.01)
        arrived: list[tuple[float, int]] = []
        for index, one in enumerate(self._listeners):
            counts = [size - self._marks[index] for size, _ in one.log]
            arrived += [(one.log[bisect_left(counts, end)][1], end) for end in ends]
            self._marks[index] = one.received
            one.log.clear()
        return arrived

    async def _silent(self) -> None:
        """Wait until what is sent on connecting has come, and forget it."""
        before = -1
        while (now := sum(one.received for one in self._listeners)) != before:
            before = now
            await asyncio.sleep(0.5)
        for index, one in enumerate(self._listeners):
            self._marks[index] = one.received
            one.log.clear()

    def leave(self) -> None:
        for one in self._listeners:
            if one.transport:
                one.transport.close()
