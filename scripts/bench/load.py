"""Requests to an address on persistent connections, as fast as it responds."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from itertools import cycle
from typing import cast

_END = b"\r\n\r\n"


class Asker(asyncio.Protocol):
    """One connection that sends the next request at each response, until it is stopped."""

    def __init__(self, requests: Sequence[bytes]) -> None:
        self._requests = cycle(requests)
        self._transport: asyncio.Transport | None = None
        self._head = b""
        self._missing = 0
        self.answered = 0
        #: Seconds that each answer took.
        self.times: list[float] = []
        self._asked_at = 0.0
        self.going = False
        self.waiting = False
        self.failure = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own class is no subclass of it

    def go(self) -> None:
        assert self._transport
        self.going = True
        self._ask()

    def close(self) -> None:
        assert self._transport
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Bodies are counted and not stored: they may be large."""
        if self._missing:
            self._missing -= len(data)
        elif not self._begun(data):
            return
        if not self._missing:
            self.answered += 1
            self.times.append(time.perf_counter() - self._asked_at)
            self.waiting = False
            if self.going:
                self._ask()

    def _ask(self) -> None:
        assert self._transport
        self.waiting = True
        self._asked_at = time.perf_counter()
        self._transport.write(next(self._requests))

    def _begun(self, data: bytes) -> bool:
        """Whether the head is there; how much of the body is missing is known then."""
        self._head += data
        head, end, body = self._head.partition(_END)
        if not end:
            return False
        if not head.startswith(b"HTTP/1.1 200"):
            self.going, self.failure = False, self._head[:300].decode(errors="replace")
        length = head.lower().split(b"content-length:")[1].split(b"\r\n")[0]
        self._missing = int(length) - len(body)
        self._head = b""
        return True


class Load:
    """`connections` askers of one path, or of several in turn, each beginning with another. Opened once, then
    let go for a while as often as wanted."""

    def __init__(
        self, port: int, path: str | Sequence[str], headers: dict[str, str], connections: int
    ) -> None:
        head = [f"host: 127.0.0.1:{port}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        paths = [path] if isinstance(path, str) else path
        self._requests = ["\r\n".join([f"GET {one} HTTP/1.1", *head]).encode() for one in paths]
        self._port, self._connections = port, connections
        self._askers: list[Asker] = []

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        for place in range(self._connections):
            first = place * len(self._requests) // self._connections
            turn = self._requests[first:] + self._requests[:first]
            _, asker = await loop.create_connection(partial(Asker, turn), "127.0.0.1", self._port)
            self._askers.append(asker)

    async def rate(self, seconds: float) -> float:
        """Responses a second while all send requests, to the last one; raises `RuntimeError` with the first
        response that is not 200."""
        before = sum(asker.answered for asker in self._askers)
        begun = time.perf_counter()
        for asker in self._askers:
            asker.go()
        await asyncio.sleep(seconds)
        for asker in self._askers:
            asker.going = False
        while any(asker.waiting for asker in self._askers):
            await asyncio.sleep(0.001)
        rate = (sum(asker.answered for asker in self._askers) - before) / (time.perf_counter() - begun)
        if failures := [asker.failure for asker in self._askers if asker.failure]:
            raise RuntimeError(failures[0])
        return rate

    def percentile(self, share: float) -> float:
        """Seconds within which `share` of the answers so far have come."""
        times = sorted(took for asker in self._askers for took in asker.times)
        return times[int(len(times) * share)] if times else 0.0

    def forget(self) -> None:
        """Count from now on, after a warm-up."""
        for asker in self._askers:
            asker.times.clear()

    def close(self) -> None:
        for asker in self._askers:
            asker.close()
