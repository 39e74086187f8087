"""A short AMQP session that reports the broker's answers in its own words.

The client library reports a vhost that is refused as an unexpected frame, and drops the text.
"""

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from pamqp import commands, constants, frame, header

from app.broker.address import Address
from app.kit.logging import get_logger

_FRAME = struct.Struct(">BHI")
_MAX_FRAME = 131_072
_CHANNEL = 1
_CONNECT_SECONDS = 3.0  #: for each node
_GOODBYE_SECONDS = 1.0
_PROPERTIES = {
    "product": "matchfeed",
    "connection_name": "login check",
    "capabilities": {"authentication_failure_close": True},
}
R = TypeVar("R")
log = get_logger(__name__)


class Refused(Exception):
    """The broker closed the channel or the connection. `code` is AMQP's; the message is the broker's text."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class ClientSession:
    """A connection of a client with one channel at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def log_in(self, address: Address, vhost: str) -> None:
        """Authenticate, and enter the vhost."""
        self._writer.write(header.ProtocolHeader().marshal())
        await self._reply(commands.Connection.Start)
        login = f"\0{address.user}\0{address.password}"
        properties: Any = _PROPERTIES
        start = commands.Connection.StartOk(properties, "PLAIN", login, "en_US")
        tune = await self.call(start, commands.Connection.Tune, 0)
        self._send(commands.Connection.TuneOk(tune.channel_max, _MAX_FRAME, 0), 0)
        await self.call(commands.Connection.Open(vhost), commands.Connection.OpenOk, 0)

    async def open_channel(self) -> None:
        """Open the channel, at first or after a refusal has closed it."""
        await self.call(commands.Channel.Open(), commands.Channel.OpenOk)

    async def call(self, request: Any, reply_type: type[R], channel: int = _CHANNEL) -> R:
        """The broker's reply to `request`; raises `Refused`."""
        self._send(request, channel)
        return await self._reply(reply_type)

    async def goodbye(self) -> None:
        """Close the connection as clients do."""
        async with asyncio.timeout(_GOODBYE_SECONDS):
            await self.call(commands.Connection.Close(200, "goodbye", 0, 0), commands.Connection.CloseOk, 0)

    async def _reply(self, reply_type: type[R]) -> R:
        reply = await self._method()
        if isinstance(reply, commands.Channel.Close):
            self._send(commands.Channel.CloseOk(), _CHANNEL)
            raise Refused(reply.reply_code or 0, reply.reply_text)
        if isinstance(reply, commands.Connection.Close):
            self._send(commands.Connection.CloseOk(), 0)
            raise Refused(reply.reply_code or 0, reply.reply_text)
        if not isinstance(reply, reply_type):
            raise ConnectionError(f"{type(reply).__name__} came instead of {reply_type.__name__}")
        return reply

    async def _method(self) -> Any:
        """The next method; heartbeats are skipped."""
        while True:
            head = await self._reader.readexactly(_FRAME.size)
            kind, _, size = _FRAME.unpack(head)
            if size > _MAX_FRAME:
                raise ConnectionError("this is no AMQP broker")
            rest = await self._reader.readexactly(size + 1)
            if kind == constants.FRAME_METHOD:
                return frame.unmarshal(head + rest)[2]

    def _send(self, method: Any, channel: int) -> None:
        self._writer.write(frame.marshal(method, channel))


async def _connected(
    address: Address, context: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    failure = ""
    for node in address.nodes:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                return await asyncio.open_connection(node.host, node.port, ssl=context)
        except OSError as error:  # TimeoutError is one
            log.warning("a node of the broker cannot be reached", node=str(node), error=repr(error))
            failure = type(error).__name__
    # Tenants read the message: our way to the broker is not in it.
    raise ConnectionError(f"the broker cannot be reached ({failure})")


@asynccontextmanager
async def client_session(address: Address) -> AsyncIterator[ClientSession]:
    """Connect to the broker, which then waits for `log_in`. Raises `OSError`, and in the block `Refused`,
    `OSError` and `EOFError`."""
    context = ssl.create_default_context() if address.tls else None
    reader, writer = await _connected(address, context)
    session = ClientSession(reader, writer)
    try:
        yield session
        with suppress(OSError, EOFError, Refused):  # TimeoutError is an OSError
            await session.goodbye()
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
