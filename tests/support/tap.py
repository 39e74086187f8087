"""What a client writes to the broker, byte by byte: a proxy on loopback that records it, and a reader for the
headers of what was published."""

import asyncio
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

from tests.support.route import pass_on

_FRAME = struct.Struct(">BHI")
_HEADER_FRAME = 2
_CONTENT = struct.Struct(">HHQH")
_TYPE, _ENCODING, _HEADERS = 1 << 15, 1 << 14, 1 << 13
_SIZES = {b"t": 1, b"b": 1, b"B": 1, b"s": 2, b"u": 2, b"I": 4, b"i": 4, b"l": 8, b"d": 8, b"T": 8, b"V": 0}


class Tap:
    """`port` leads where the broker is; `written` is what came through on its way there, by connection."""

    def __init__(self, host: str, port: int) -> None:
        self._there = host, port
        self.port = 0
        self.written: list[bytearray] = []
        self._open: set[asyncio.StreamWriter] = set()  #: as in `CuttingRoute`

    def headers(self) -> Iterator[dict[str, tuple[str, bytes]]]:
        """Of every message that was published with any: type letter and value, as they went over the wire."""
        for written in self.written:
            yield from _headers(bytes(written))

    def published(self) -> int:
        """How many messages were published."""
        return sum(1 for written in self.written for _ in _contents(bytes(written)))

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Tap"]:
        async with await asyncio.start_server(self._serve, "127.0.0.1") as server:
            self.port = server.sockets[0].getsockname()[1]
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        recorded = bytearray()
        self.written.append(recorded)
        self._open.add(writer)
        try:
            there, back = await asyncio.open_connection(*self._there)
            with suppress(ConnectionError):
                await asyncio.gather(pass_on(reader, back, recorded), pass_on(there, writer))
        finally:
            self._open.discard(writer)


def _headers(stream: bytes) -> Iterator[dict[str, tuple[str, bytes]]]:
    for payload in _contents(stream):
        if _CONTENT.unpack_from(payload)[3] & _HEADERS:
            yield dict(_table(payload))


def _contents(stream: bytes) -> Iterator[bytes]:
    """The payload of every content header's frame."""
    at = 8  # the protocol's own header
    while at + _FRAME.size <= len(stream):
        kind, _, size = _FRAME.unpack_from(stream, at)
        if kind == _HEADER_FRAME:
            yield stream[at + _FRAME.size : at + _FRAME.size + size]
        at += _FRAME.size + size + 1


def _table(payload: bytes) -> Iterator[tuple[str, tuple[str, bytes]]]:
    """The headers in the payload of a content header's frame."""
    flags, at = _CONTENT.unpack_from(payload)[3], _CONTENT.size
    for bit in (_TYPE, _ENCODING):
        if flags & bit:
            at += 1 + payload[at]
    end = at + 4 + int.from_bytes(payload[at : at + 4])
    at += 4
    while at < end:
        name = payload[at + 1 : at + 1 + payload[at]].decode()
        at += 1 + payload[at]
        kind = payload[at : at + 1]
        at += 1
        size = _SIZES[kind] if kind in _SIZES else 4 + int.from_bytes(payload[at : at + 4])
        yield name, (kind.decode(), payload[at : at + size])
        at += size
