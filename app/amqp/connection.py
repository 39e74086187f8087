"""A tenant's AMQP connection: it writes marshalled frames on several channels and reports every confirm.

A confirm names a delivery tag of its channel, or all tags up to one; the broker may confirm out of order.
Live messages have a channel that is open from the start; each further channel that publishes has a listener
of its own. If the broker closes one that publishes, the connection ends: it is unknown what arrived.
"""

import asyncio
import contextlib
import random
import ssl
import struct
from typing import Any, Protocol

from pamqp import commands, constants, frame, header, heartbeat

from app.amqp.frames import CHANNEL, FRAME_MAX
from app.broker.address import Address, Node
from app.kit.logging import get_logger

_HEARTBEAT_SECONDS = 10
_HANDSHAKE_SECONDS = 10.0
_CORKED_BYTES = 64 * 1024  #: so much is written at the latest; then `writable` is known again
_CLOSE_SECONDS = 2.0
_ACK = struct.pack(">I", 60 << 16 | 80)
_NACK = struct.pack(">I", 60 << 16 | 120)
_TAG = struct.Struct(">QB")
_FRAME = struct.Struct(">BHI")
_HEARTBEAT = frame.marshal(heartbeat.Heartbeat(), 0)
log = get_logger(__name__)


class BrokerError(Exception):
    """The broker refused, disconnected, or sent what was not expected; the connection is closed."""


class ChannelClosed(BrokerError):
    """The broker closed a channel that publishes nothing; the connection remains. `code` says why."""

    def __init__(self, close: commands.Channel.Close) -> None:
        super().__init__(f"{close.reply_code} {close.reply_text}")
        self.code = close.reply_code


class ConfirmListener(Protocol):
    """Receives what the broker answers to the publishes of a channel. None of these may raise."""

    def confirmed(self, tag: int, multiple: bool) -> None: ...

    def rejected(self, tag: int, multiple: bool) -> None: ...

    def unblocked(self) -> None:
        """Writing makes sense again, after `writable` was False."""


class PublisherConnection(asyncio.Protocol):
    """Created by `connect`, with the `listener` of live messages. `ended` is done once the connection is
    closed; its result is the reason. `unblocked_at` is when the broker last accepted messages again, by the
    loop's clock."""

    def __init__(self, listener: ConfirmListener) -> None:
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[str] = loop.create_future()
        self.frame_max = FRAME_MAX
        self.blocked = ""
        self.unblocked_at = 0.0
        self._listeners = {CHANNEL: listener}
        self._written = {CHANNEL: 0}
        self._returned: set[str | None] = set()
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self._corked: list[bytes] | None = None
        self._corked_bytes = 0
        self._buffer = bytearray()
        self._replies: dict[int, asyncio.Queue[Any]] = {0: asyncio.Queue(), CHANNEL: asyncio.Queue()}
        self._received_at = loop.time()
        self._heartbeat_timer: asyncio.TimerHandle | None = None

    @property
    def writable(self) -> bool:
        """Whether a publish would be sent now: not blocked by the broker, our buffer not full."""
        return not (self.blocked or self._paused or self.ended.done())

    @property
    def silent_seconds(self) -> float:
        """For how long the broker has sent nothing; a heartbeat comes at least twice in its interval."""
        return self._loop.time() - self._received_at

    def publish(self, frames: bytes, channel: int = CHANNEL) -> int:
        """Write one message's frames, which name the `channel`; returns the delivery tag of its confirm."""
        if self._transport is None or self.ended.done():
            raise BrokerError("the connection is over")
        if self._corked is None:
            self._transport.write(frames)
        else:
            self._corked.append(frames)
            self._corked_bytes += len(frames)
            if self._corked_bytes >= _CORKED_BYTES:
                self._write_corked()
        self._written[channel] += 1
        return self._written[channel]

    def cork(self) -> None:
        """Have what is published until `uncork` written together: what the broker reads at once costs it less
        a message, and uvloop writes whatever it is given at once. Only for a caller that does not wait
        meanwhile."""
        self._corked = []

    def uncork(self) -> None:
        self._write_corked()
        self._corked = None

    def _write_corked(self) -> None:
        if self._corked and self._transport is not None and not self.ended.done():
            self._transport.writelines(self._corked)
        self._corked, self._corked_bytes = [], 0

    def take_returned(self, message_id: str | None) -> bool:
        """Whether the broker returned the mandatory message of that id, which it does before it confirms
        it; the next call for it is False."""
        returned = message_id in self._returned
        self._returned.discard(message_id)
        return returned

    async def open_channel(self, number: int, listener: ConfirmListener | None = None) -> None:
        """Open a channel; with a `listener`, for publishing with confirms."""
        self._replies[number] = asyncio.Queue()
        await self.call(commands.Channel.Open(), commands.Channel.OpenOk, number)
        if listener:
            await self.call(commands.Confirm.Select(), commands.Confirm.SelectOk, number)
            self._listeners[number], self._written[number] = listener, 0

    def abandon_channel(self, number: int, *, closed: bool = False) -> None:
        """Close a channel that publishes nothing, whatever is under way on it, unless the broker has `closed`
        it; its number stays unused."""
        if self._replies.pop(number, None) and not closed and not self.ended.done():
            with contextlib.suppress(BrokerError):
                self.send(commands.Channel.Close(200, "abandoned", 0, 0), number)

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
        return await self.expect(reply_type, channel)

    def send(self, method: Any, channel: int = CHANNEL) -> None:
        """Send a method that has no reply."""
        self._send(frame.marshal(method, channel))

    async def expect(self, reply_type: type[Any], channel: int) -> Any:
        if self.ended.done():
            raise BrokerError(self.ended.result())
        reply = await self._replies[channel].get()
        if isinstance(reply, commands.Channel.Close):
            raise ChannelClosed(reply)
        if not isinstance(reply, reply_type):
            raise BrokerError(str(reply))
        return reply

    def start_heartbeats(self, seconds: int) -> None:
        """Send a heartbeat each half interval, and end the connection after two silent intervals."""
        if not seconds or self.ended.done():
            return
        silent = self.silent_seconds
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
        for replies in self._replies.values():
            replies.put_nowait(self.ended.result())

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._unblocked()

    def data_received(self, data: bytes) -> None:
        self._received_at = self._loop.time()
        self._buffer += data
        buffer, at = bytes(self._buffer), 0
        while len(buffer) - at >= _FRAME.size:
            kind, channel, size = _FRAME.unpack_from(buffer, at)
            end = at + _FRAME.size + size + 1
            if end > len(buffer):
                break
            if buffer[end - 1] != constants.FRAME_END:
                self.abort("a frame without its end: not AMQP 0-9-1")
                return
            if kind == constants.FRAME_METHOD:
                self._method(channel, buffer, at, end)
            elif kind == constants.FRAME_HEADER:  # as we consume nothing, only what is returned has one
                self._returned.add(_message_id(frame.unmarshal(buffer[at:end])[2]))
            at = end
        del self._buffer[:at]

    def _method(self, channel: int, buffer: bytes, at: int, end: int) -> None:
        payload = at + _FRAME.size
        index = buffer[payload : payload + 4]
        if index == _ACK:
            tag, bits = _TAG.unpack_from(buffer, payload + 4)
            self._listeners[channel].confirmed(tag, bool(bits & 1))
        elif index == _NACK:
            tag, bits = _TAG.unpack_from(buffer, payload + 4)
            self._listeners[channel].rejected(tag, bool(bits & 1))
        else:
            self._handle(channel, frame.unmarshal(buffer[at:end])[2])

    def _handle(self, channel: int, method: Any) -> None:
        match method:
            case commands.Connection.Blocked():
                self.blocked = method.reason or "blocked"
            case commands.Connection.Unblocked():
                self.blocked = ""
                self._unblocked()
            case commands.Connection.Close():
                self.send(commands.Connection.CloseOk(), 0)
                self.abort(f"{method.reply_code} {method.reply_text}")
            case commands.Channel.Close() if channel in self._listeners:
                self.abort(f"{method.reply_code} {method.reply_text}")
            case commands.Basic.Return():
                pass  # the content header after it has the message's id
            case _:
                if isinstance(method, commands.Channel.Close):
                    self.send(commands.Channel.CloseOk(), channel)
                if channel in self._replies:  # otherwise it was abandoned
                    self._replies[channel].put_nowait(method)

    def _unblocked(self) -> None:
        self.unblocked_at = self._loop.time()
        for listener in self._listeners.values():
            listener.unblocked()

    def _send(self, data: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            raise BrokerError(self.ended.result() if self.ended.done() else "the connection is over")
        self._transport.write(data)


async def connect(
    address: Address, vhost: str, name: str, exchange: str, listener: ConfirmListener
) -> PublisherConnection:
    """Log in to `vhost`, open the channel of live messages, declare the topic exchange, enable confirms.

    The broker's nodes are tried in a random order, so that the connections of many tenants share them.
    `name` is shown by the broker's management. Raises the `BrokerError` or `OSError` of the last node, within
    10 s for each node.
    """
    *others, last = random.sample(address.nodes, len(address.nodes))
    for node in others:
        try:
            return await _connect_to(node, address, vhost, name, exchange, listener)
        except (BrokerError, OSError) as error:
            log.warning("a node of the broker cannot be connected to", node=str(node), error=str(error))
    return await _connect_to(last, address, vhost, name, exchange, listener)


async def _connect_to(
    node: Node, address: Address, vhost: str, name: str, exchange: str, listener: ConfirmListener
) -> PublisherConnection:
    try:
        async with asyncio.timeout(_HANDSHAKE_SECONDS):
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: PublisherConnection(listener),
                node.host,
                node.port,
                ssl=ssl.create_default_context() if address.tls else None,
            )
            try:
                await _handshake(connection, address, vhost, name)
                await _open_channel(connection, exchange)
            except BaseException:
                connection.abort("the handshake failed")
                raise
    except TimeoutError as error:
        raise BrokerError(f"no AMQP handshake with {node} in time") from error
    return connection


async def _handshake(connection: PublisherConnection, address: Address, vhost: str, name: str) -> None:
    await connection.expect(commands.Connection.Start, 0)
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


def _message_id(content: Any) -> str | None:
    found: str | None = content.properties.message_id
    return found
