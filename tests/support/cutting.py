"""A way to servers on loopback that breaks connections off in the middle of what the servers send."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Self

from tests.support.route import pass_on


class CuttingRoute:
    """`port` leads to one of `hosts` (host and port), chosen anew for each connection. After so many bytes of
    what the servers send as are drawn from `seed`, at most `most` each time, the connection is aborted: so
    many `times`, of which `cuts` have happened."""

    def __init__(self, hosts: Sequence[str], seed: int, *, most: int, times: int) -> None:
        self._hosts, self._most, self._times = hosts, most, times
        self._random = random.Random(seed)
        self._left = self._random.randrange(1, most)
        self.port = 0
        self.cuts = 0
        #: A connection that its client has closed holds its task no more: it would be garbage.
        self._open: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Self]:
        """The route, until the end of the block."""
        async with await asyncio.start_server(self._serve, "127.0.0.1") as server:
            self.port = server.sockets[0].getsockname()[1]
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        host, _, port = self._random.choice(self._hosts).partition(":")
        there, back = await asyncio.open_connection(host, int(port))
        sending = asyncio.create_task(pass_on(reader, back))
        try:
            with suppress(ConnectionError):
                await self._return(there, writer)
        finally:
            sending.cancel()
            back.transport.abort()
            writer.transport.abort()
            self._open.discard(writer)

    async def _return(self, there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass the servers' bytes on until it is time to cut."""
        while data := await there.read(65_536):
            cuts = self.cuts < self._times and len(data) >= self._left
            writer.write(data[: self._left] if cuts else data)
            await writer.drain()
            self._left -= len(data)
            if cuts:
                self.cuts += 1
                self._left = self._random.randrange(1, self._most)
                return
        writer.write_eof()
