"""Does what a tenant's client does at the broker when it starts; reports each step with the broker's answer.

The queue of the check is bound with a key that no message has. So it does not count as a queue that receives
live messages or `alive`, and nothing is published because of it. The AMQP session is our own: the client
library reports a vhost that is refused as an unexpected frame, and drops the text.
"""

import asyncio
import ssl
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, TypeVar

import msgspec
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
StepName = Literal["connect", "log_in", "declare", "bind", "delete"]
#: A server-generated name that the broker never generates.
_NO_QUEUE = "amq.gen-none"
_UNUSED_KEY = "login-check"
_NOT_FOUND = 404
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
    # Tenants read the message: it must not contain the address at which we reach the broker.
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


class Step(msgspec.Struct, frozen=True):
    """A step of a login: how long it took in ms, and why it failed in the broker's words, empty if it did
    not."""

    name: StepName
    millis: int
    error: str = ""


async def check_login(tenant: Address, vhost: str, exchange: str, seconds: float) -> tuple[Step, ...]:
    """Log in to `vhost`, declare an exclusive queue that is deleted with its connection, bind it to
    `exchange`, delete it and look whether it is gone; within `seconds`. The first step that fails is the
    last."""
    check = _Check()
    async with check.reporting(seconds), check.logged_in(tenant, vhost) as session:
        check.next("declare")
        declare = commands.Queue.Declare(exclusive=True, auto_delete=True)
        queue = (await session.call(declare, commands.Queue.DeclareOk)).queue or ""
        check.next("bind")
        bind = commands.Queue.Bind(queue=queue, exchange=exchange, routing_key=_UNUSED_KEY)
        await session.call(bind, commands.Queue.BindOk)
        check.next("delete")
        await session.call(commands.Queue.Delete(queue=queue), commands.Queue.DeleteOk)
        await _expect_missing(session, commands.Queue.Declare(queue=queue, passive=True))
    return check.steps


async def check_binding(tenant: Address, vhost: str, exchange: str, seconds: float) -> tuple[Step, ...]:
    """`check_login` of a tenant that may be at its queue limit: log in, and bind a queue that does not exist.
    The broker checks permissions first, and reports a missing queue only to a user that has them."""
    check = _Check()
    async with check.reporting(seconds), check.logged_in(tenant, vhost) as session:
        check.next("bind")
        bind = commands.Queue.Bind(queue=_NO_QUEUE, exchange=exchange, routing_key="#")
        await _expect_missing(session, bind)
    return check.steps


async def _expect_missing(
    session: ClientSession, request: commands.Queue.Declare | commands.Queue.Bind
) -> None:
    """Send what the broker refuses only because there is no such queue."""
    try:
        await session.call(request, object)
    except Refused as refusal:
        if refusal.code != _NOT_FOUND:
            raise
    else:
        raise ConnectionError(f"the queue {request.queue} is still there")


class _Check:
    """The steps of one login so far."""

    def __init__(self) -> None:
        self._done: list[Step] = []
        self._present: StepName = "connect"
        self._began = time.monotonic()

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._done)

    def next(self, name: StepName) -> None:
        """The present step has worked; another begins."""
        self._end("")
        self._present, self._began = name, time.monotonic()

    @asynccontextmanager
    async def reporting(self, seconds: float) -> AsyncIterator[None]:
        """Record the present step as the last one when the block ends, or fails, or takes too long."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            self._end(f"no answer within {seconds:.0f} s")
        except EOFError:
            self._end("the broker ended the connection")
        except (OSError, Refused) as error:
            self._end(str(error) or type(error).__name__)
        else:
            self._end("")

    @asynccontextmanager
    async def logged_in(self, tenant: Address, vhost: str) -> AsyncIterator[ClientSession]:
        """A session in the vhost, with a channel."""
        async with client_session(tenant) as session:
            self.next("log_in")
            await session.log_in(tenant, vhost)
            await session.open_channel()
            yield session

    def _end(self, error: str) -> None:
        self._done.append(Step(self._present, round((time.monotonic() - self._began) * 1000), error))
