"""An AMQP connection that only publishes: it writes marshalled frames and reports every confirm.

A confirm names a delivery tag, or all tags up to one; the broker may confirm out of order. `written`
counts publishes on this connection, and its value after a write is that publish's tag.
"""

import asyncio
import contextlib
import ssl
import struct
from typing import Any, Protocol

from pamqp import commands, constants, frame, header, heartbeat

from app.amqp.frames import CHANNEL, FRAME_MAX
from app.broker.address import Address

_HEARTBEAT_SECONDS = 10
_HANDSHAKE_SECONDS = 10.0
_CLOSE_SECONDS = 2.0
_ACK = struct.pack(">I", 60 << 16 | 80)
_NACK = struct.pack(">I", 60 << 16 | 120)
_TAG = struct.Struct(">QB")
_FRAME = struct.Struct(">BHI")
_HEARTBEAT = frame.marshal(heartbeat.Heartbeat(), 0)


class BrokerError(Exception):
    """The broker refused, disconnected, or sent what was not expected; the connection is closed."""


class ConfirmListener(Protocol):
    """Receives what the broker answers to our publishes. None of these may raise."""

    def confirmed(self, tag: int, multiple: bool) -> None: ...

    def rejected(self, tag: int, multiple: bool) -> None: ...

    def unblocked(self) -> None:
        """Writing makes sense again, after `writable` was False."""


class PublisherConnection(asyncio.Protocol):
    """Created by `connect`. `ended` is done once the connection is closed; its result is the reason."""

    def __init__(self, listener: ConfirmListener) -> None:
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[str] = loop.create_future()
        self.written = 0
        self.frame_max = FRAME_MAX
        self.blocked = ""
        self._listener = listener
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self._buffer = bytearray()
        self._replies: asyncio.Queue[Any] = asyncio.Queue()
        self._received_at = loop.time()
        self._heartbeat_timer: asyncio.TimerHandle | None = None

    @property
    def writable(self) -> bool:
        """Whether a publish would be sent now: not blocked by the broker, our buffer not full."""
        return not (self.blocked or self._paused or self.ended.done())

    def publish(self, frames: bytes) -> int:
        """Write one message's frames; returns the delivery tag of its confirm."""
        if self._transport is None or self.ended.done():
            raise BrokerError("the connection is over")
        self._transport.write(frames)
        self.written += 1
        return self.written

    def abort(self, why: str) -> None:
        """Close at once: what is still in our buffer is discarded."""
        if not self.ended.done():
            self.ended.set_result(why)
        if self._transport is not None:
            self._transport.abort()

    async def close(self) -> None:
        """Close in order; does not wait for confirms."""
        if not self.ended.done():
            with contextlib.suppress(BrokerError, TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    closing = commands.Connection.Close(200, "goodbye", 0, 0)
                    await self.call(closing, commands.Connection.CloseOk, 0)
        self.abort("closed by us")

    async def call(self, request: Any, reply_type: type[Any], channel: int = CHANNEL) -> Any:
        """Send a method and wait for its reply; raises `BrokerError` if the connection ends first."""
        self.send(request, channel)
        return await self.expect(reply_type)

    def send(self, method: Any, channel: int = CHANNEL) -> None:
        """Send a method that has no reply."""
        self._send(frame.marshal(method, channel))

    async def expect(self, reply_type: type[Any]) -> Any:
        reply = await self._replies.get()
        if not isinstance(reply, reply_type):
            raise BrokerError(str(reply))
        return reply

    def start_heartbeats(self, seconds: int) -> None:
        """Send a heartbeat each half interval, and end the connection after two silent intervals."""
        if not seconds or self.ended.done():
            return
        silent = self._loop.time() - self._received_at
        if silent > 2 * seconds:
            self.abort(f"nothing received from the broker for {silent:.0f} s")
            return
        self._send(_HEARTBEAT)
        self._heartbeat_timer = self._loop.call_later(seconds / 2, self.start_heartbeats, seconds)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self._send(header.ProtocolHeader(0, 9, 1).marshal())

    def connection_lost(self, error: Exception | None) -> None:
        if self._heartbeat_timer:
            self._heartbeat_timer.cancel()
        if not self.ended.done():
            self.ended.set_result(str(error or "the broker closed the connection"))
        self._replies.put_nowait(self.ended.result())

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._listener.unblocked()

    def data_received(self, data: bytes) -> None:
        self._received_at = self._loop.time()
        self._buffer += data
        buffer, at = bytes(self._buffer), 0
        while len(buffer) - at >= _FRAME.size:
            kind, _, size = _FRAME.unpack_from(buffer, at)
            end = at + _FRAME.size + size + 1
            if end > len(buffer):
                break
            if buffer[end - 1] != constants.FRAME_END:
                self.abort("a frame without its end: not AMQP 0-9-1")
                return
            if kind == constants.FRAME_METHOD:
                self._method(buffer, at, end)
            at = end
        del self._buffer[:at]

    def _method(self, buffer: bytes, at: int, end: int) -> None:
        payload = at + _FRAME.size
        index = buffer[payload : payload + 4]
        if index == _ACK:
            tag, bits = _TAG.unpack_from(buffer, payload + 4)
            self._listener.confirmed(tag, bool(bits & 1))
        elif index == _NACK:
            tag, bits = _TAG.unpack_from(buffer, payload + 4)
            self._listener.rejected(tag, bool(bits & 1))
        else:
            self._handle(frame.unmarshal(buffer[at:end])[2])

    def _handle(self, method: Any) -> None:
        match method:
            case commands.Connection.Blocked():
                self.blocked = method.reason or "blocked"
            case commands.Connection.Unblocked():
                self.blocked = ""
                self._listener.unblocked()
            case commands.Connection.Close():
                self.send(commands.Connection.CloseOk(), 0)
                self.abort(f"{method.reply_code} {method.reply_text}")
            case commands.Channel.Close():
                self.abort(f"{method.reply_code} {method.reply_text}")
            case _:
                self._replies.put_nowait(method)

    def _send(self, data: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            raise BrokerError(self.ended.result() if self.ended.done() else "the connection is over")
        self._transport.write(data)


async def connect(
    address: Address, vhost: str, name: str, exchange: str, listener: ConfirmListener
) -> PublisherConnection:
    """Log in to `vhost`, open the one channel, declare the topic exchange, enable publisher confirms.

    `name` is shown by the broker's management. Raises `BrokerError` or `OSError`, within 10 s.
    """
    try:
        async with asyncio.timeout(_HANDSHAKE_SECONDS):
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: PublisherConnection(listener),
                address.host,
                address.port,
                ssl=ssl.create_default_context() if address.tls else None,
            )
            try:
                await _handshake(connection, address, vhost, name)
                await _open_channel(connection, exchange)
            except BaseException:
                connection.abort("the handshake failed")
                raise
    except TimeoutError as error:
        raise BrokerError(f"no AMQP handshake with {address.host}:{address.port} in time") from error
    return connection


async def _handshake(connection: PublisherConnection, address: Address, vhost: str, name: str) -> None:
    await connection.expect(commands.Connection.Start)
    properties: Any = {
        "product": "matchfeed",
        "connection_name": name,
        "capabilities": {
            "connection.blocked": True,
            "publisher_confirms": True,
            "authentication_failure_close": True,
        },
    }
    login = f"\0{address.user}\0{address.password}"
    start_ok = commands.Connection.StartOk(properties, "PLAIN", login, "en_US")
    tune = await connection.call(start_ok, commands.Connection.Tune, 0)
    connection.frame_max = min(tune.frame_max or FRAME_MAX, FRAME_MAX)
    beat = min(tune.heartbeat or _HEARTBEAT_SECONDS, _HEARTBEAT_SECONDS)
    connection.send(commands.Connection.TuneOk(tune.channel_max, connection.frame_max, beat), 0)
    await connection.call(commands.Connection.Open(vhost), commands.Connection.OpenOk, 0)
    connection.start_heartbeats(beat)


async def _open_channel(connection: PublisherConnection, exchange: str) -> None:
    await connection.call(commands.Channel.Open(), commands.Channel.OpenOk)
    declare = commands.Exchange.Declare(exchange=exchange, exchange_type="topic", durable=True)
    await connection.call(declare, commands.Exchange.DeclareOk)
    await connection.call(commands.Confirm.Select(), commands.Confirm.SelectOk)
