"""Asking one address over and over on connections that are kept open, as fast as it answers."""

import asyncio
import time
from typing import cast

_END = b"\r\n\r\n"


class Asker(asyncio.Protocol):
    """One connection that asks again as soon as it is answered, until told to stop."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._expected = 0
        self.answered = 0
        self.going = False
        self.failure = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own class is no subclass of it

    def go(self) -> None:
        assert self._transport
        self.going = True
        self._transport.write(self._request)

    def close(self) -> None:
        assert self._transport
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._expected:
            self._expected = self._size()
        if not self._expected or len(self._buffer) < self._expected:
            return
        self._buffer, self._expected = b"", 0
        self.answered += 1
        if self.going and self._transport:
            self._transport.write(self._request)

    def _size(self) -> int:
        """How long the whole answer is; 0 while its head is not there yet."""
        head, end, _ = self._buffer.partition(_END)
        if not end:
            return 0
        if not head.startswith(b"HTTP/1.1 200"):
            self.going, self.failure = False, self._buffer[:300].decode(errors="replace")
        length = head.lower().split(b"content-length:")[1].split(b"\r\n")[0]
        return len(head) + len(_END) + int(length)


class Load:
    """`connections` askers of one path. Opened once, then let go for a while as often as wanted."""

    def __init__(self, port: int, path: str, headers: dict[str, str], connections: int) -> None:
        lines = [f"GET {path} HTTP/1.1", f"host: 127.0.0.1:{port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._request = "\r\n".join([*lines, "", ""]).encode()
        self._port, self._connections = port, connections
        self._askers: list[Asker] = []

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(self._connections):
            _, asker = await loop.create_connection(lambda: Asker(self._request), "127.0.0.1", self._port)
            self._askers.append(asker)

    async def rate(self, seconds: float) -> float:
        """Answers a second while all ask; raises `RuntimeError` with the first answer that is not 200."""
        before = sum(asker.answered for asker in self._askers)
        begun = time.perf_counter()
        for asker in self._askers:
            asker.go()
        await asyncio.sleep(seconds)
        answered = sum(asker.answered for asker in self._askers) - before
        rate = answered / (time.perf_counter() - begun)
        for asker in self._askers:
            asker.going = False
        await asyncio.sleep(0.05)
        if failures := [asker.failure for asker in self._askers if asker.failure]:
            raise RuntimeError(failures[0])
        return rate

    def close(self) -> None:
        for asker in self._askers:
            asker.close()
