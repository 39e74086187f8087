"""A way to a server on loopback that a test can cut: then it refuses connections, or accepts them and answers
nothing, as a host does that was cut off."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Self


class Route:
    """`port` leads to the server at `host`, `there` until it is cut. `taken` counts the connections."""

    def __init__(self, host: str, there: int) -> None:
        self._there = host, there
        self.port = 0
        self.taken = 0
        self._server: asyncio.Server | None = None
        self._silent = False
        self._open: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Self]:
        """The route, until the end of the block."""
        await self.restore()
        try:
            yield self
        finally:
            await self.cut()

    async def cut(self) -> None:
        """Close every connection and accept no more."""
        if self._server:
            self._server.close()
            for writer in self._open:
                writer.transport.abort()
            await self._server.wait_closed()
            self._server = None

    async def cut_off(self) -> None:
        """Close every connection; accept more, but answer nothing."""
        self._silent = True
        for writer in self._open:
            writer.transport.abort()

    async def restore(self) -> None:
        self._silent = False
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.taken += 1
        self._open.add(writer)
        try:
            if self._silent:
                await reader.read()
                return
            there, back = await asyncio.open_connection(*self._there)
            with suppress(OSError):
                await asyncio.gather(pass_on(reader, back), pass_on(there, writer))
        finally:
            self._open.discard(writer)
            writer.close()


async def pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, recorded: bytearray | None = None
) -> None:
    """Write what is read until it ends, and record it."""
    try:
        while data := await reader.read(65_536):
            if recorded is not None:
                recorded += data
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()
