"""A client that announces a message without end and goes on sending it: no permission prevents it, for the
broker asks for rights when it has the whole message."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pamqp import body, commands, constants, frame, header
from pamqp.base import Frame

from app.broker.address import parse

_PIECE = bytes(65_536)
_ANNOUNCED = 1 << 40


@asynccontextmanager
async def publishing(url: str, exchange: str) -> AsyncIterator[asyncio.StreamWriter]:
    """A connection to which a message was announced that it will never have whole; `send` adds to it."""
    login = parse(url)
    reader, writer = await asyncio.open_connection(login.nodes[0].host, login.nodes[0].port)
    try:
        writer.write(constants.AMQP + bytes((0, 0, 9, 1)))
        response = f"\0{login.user}\0{login.password}"
        await _send(writer, 0, commands.Connection.StartOk({}, "PLAIN", response, "en_US"))
        await _send(writer, 0, commands.Connection.TuneOk(10, 131_072, 0))
        await _send(writer, 0, commands.Connection.Open(url.rpartition("/")[2]))
        await _send(writer, 1, commands.Channel.Open())
        await _send(writer, 1, commands.Basic.Publish(exchange=exchange, routing_key="a.b"))
        await _send(writer, 1, header.ContentHeader(body_size=_ANNOUNCED))
        yield writer
    finally:
        reader.feed_eof()
        writer.transport.abort()


async def send(writer: asyncio.StreamWriter, size: int) -> None:
    """Send so many bytes of the message; raises `OSError` when the broker has closed the connection."""
    piece = frame.marshal(body.ContentBody(_PIECE), 1)
    for _ in range(size // len(_PIECE)):
        writer.write(piece)
        await writer.drain()


async def _send(writer: asyncio.StreamWriter, channel: int, what: Frame) -> None:
    writer.write(frame.marshal(what, channel))
    await writer.drain()
