"""A proxy between a client and the broker that can lose, hold, repeat and reorder what is delivered.

Frames are passed on as they are, but for deliveries, which get numbers of their own, and for what the client
acknowledges, which is translated back. What the client never sees is acknowledged for it. A client may log
in as existing SDKs do (`key_login`), over TLS.
"""

import asyncio
import ssl
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import cast

from pamqp import commands, frame, header

from app.sandbox.certification.altering import shifted
from app.sandbox.certification.deliveries import Delivery, Treatment
from app.sandbox.certification.evidence import Evidence
from app.sandbox.certification.key_login import KeyLogin, Present

_METHOD, _HEADER, _BODY = 1, 2, 3
_DELIVER, _ACK, _NACK, _REJECT = (60, 60), (60, 80), (60, 120), (60, 90)
_CONSUME, _CONSUMING, _OPENED = (60, 20), (60, 21), (20, 11)
_PREFACE_BYTES, _HEAD_BYTES = 8, 7

Rule = Callable[[Delivery], Treatment]


def pass_all(_: Delivery) -> Treatment:
    return Treatment.PASSED


class _Channel:
    """Consumers of one channel, what is unacknowledged (the client's number → the broker's, 0 for a delivery
    that the broker does not know), and the delivery that is being read."""

    def __init__(self) -> None:
        self.newest = 0
        self.unacknowledged: dict[int, int] = {}
        self.without_acks: dict[str, bool] = {}
        self.consuming: list[bool] = []
        self.method: commands.Basic.Deliver | None = None
        self.frames: list[bytes] = []
        self.missing = 0


class _Session:
    """One connection of a client, and the one to the broker that belongs to it."""

    def __init__(
        self, proxy: "AmqpProxy", client: asyncio.StreamWriter, broker: asyncio.StreamWriter
    ) -> None:
        self._proxy, self._client, self._broker = proxy, client, broker
        self._login = KeyLogin(proxy.present)
        self.channels: dict[int, _Channel] = {}

    @property
    def consumers(self) -> dict[str, int]:
        """Channels by consumer."""
        return {tag: number for number, channel in self.channels.items() for tag in channel.without_acks}

    def end(self) -> None:
        """Cut the connection, on both sides and without a word."""
        for writer in (self._client, self._broker):
            writer.transport.abort()

    async def from_client(self, reader: asyncio.StreamReader) -> None:
        self._broker.write(await reader.readexactly(_PREFACE_BYTES))
        while True:
            kind, number, raw = await _read(reader)
            method = _method(raw) if kind == _METHOD else None
            channel = self.channels.setdefault(number, _Channel())
            if method in (_ACK, _NACK, _REJECT):
                self._acknowledge(number, channel, frame.unmarshal(raw)[2])
            else:
                if method == _CONSUME:
                    channel.consuming.append(cast(commands.Basic.Consume, frame.unmarshal(raw)[2]).no_ack)
                self._broker.write(self._login.translated(method, raw, number))
            await self._broker.drain()

    def _acknowledge(self, number: int, channel: _Channel, method: object) -> None:
        assert isinstance(method, commands.Basic.Ack | commands.Basic.Nack | commands.Basic.Reject)
        tag, multiple = method.delivery_tag or 0, getattr(method, "multiple", False)
        every = [one for one in channel.unacknowledged if one <= tag or not tag] if multiple else [tag]
        for one in every:
            if known := channel.unacknowledged.pop(one, 0):
                method.delivery_tag = known
                if multiple:
                    method.multiple = False  # type: ignore[union-attr]
                self._broker.write(frame.marshal(method, number))

    async def from_broker(self, reader: asyncio.StreamReader) -> None:
        while True:
            kind, number, raw = await _read(reader)
            channel = self.channels.setdefault(number, _Channel())
            method = _method(raw) if kind == _METHOD else None
            if method == _DELIVER:
                channel.method = cast(commands.Basic.Deliver, frame.unmarshal(raw)[2])
                channel.frames, channel.missing = [], 0
            elif channel.method is not None and kind in (_HEADER, _BODY):
                self._collect(number, channel, kind, raw)
            else:
                if method == _CONSUMING:
                    consumer = cast(commands.Basic.ConsumeOk, frame.unmarshal(raw)[2]).consumer_tag or ""
                    channel.without_acks[consumer] = channel.consuming.pop(0)
                elif method == _OPENED:
                    self.channels[number] = _Channel()
                self._client.write(raw)
            await self._client.drain()

    def _collect(self, number: int, channel: _Channel, kind: int, raw: bytes) -> None:
        channel.frames.append(raw)
        if kind == _HEADER:
            channel.missing = cast(header.ContentHeader, frame.unmarshal(raw)[2]).body_size
        else:
            channel.missing -= len(raw) - _HEAD_BYTES - 1
        if channel.missing or channel.method is None:
            return
        method, channel.method = channel.method, None
        properties = cast(header.ContentHeader, frame.unmarshal(channel.frames[0])[2]).properties
        delivery = Delivery(
            method.consumer_tag or "",
            method.exchange,
            method.routing_key or "",
            properties.headers or {},
            b"".join(each[_HEAD_BYTES:-1] for each in channel.frames[1:]),
            tuple(channel.frames),
        )
        if self._proxy.later_millis:
            delivery = shifted(delivery, self._proxy.later_millis)
        self._treat(number, channel, delivery, method.delivery_tag or 0)

    def _treat(self, number: int, channel: _Channel, delivery: Delivery, tag: int) -> None:
        treatment = self._proxy.treat(delivery)
        if treatment in (Treatment.PASSED, Treatment.REPEATED):
            self.deliver(delivery, tag)
            if treatment is Treatment.REPEATED:
                self.deliver(delivery)
        elif not channel.without_acks.get(delivery.consumer):
            self._broker.write(frame.marshal(commands.Basic.Ack(tag), number))

    def deliver(self, delivery: Delivery, tag: int = 0) -> None:
        """Deliver to the consumer under the client's next number; `tag` is the broker's, if it has one."""
        number = self.consumers[delivery.consumer]
        channel = self.channels[number]
        channel.newest += 1
        if not channel.without_acks[delivery.consumer]:
            channel.unacknowledged[channel.newest] = tag
        method = commands.Basic.Deliver(
            delivery.consumer, channel.newest, False, delivery.exchange, delivery.routing_key
        )
        frames = (_on_channel(each, number) for each in delivery.frames)
        self._client.write(frame.marshal(method, number) + b"".join(frames))
        self._proxy.evidence.delivered(delivery)


class AmqpProxy:
    """Listens at `port`. `rule` decides about each delivery; what it holds waits in `held`, in order of
    arrival. `refusing`: connections are closed at once, as when the broker is down. `present`: the login that
    a key is exchanged for. `later_millis`: how much later than it is the time is in messages."""

    def __init__(
        self, host: str, port: int, evidence: Evidence, *, tls: bool = False, present: Present
    ) -> None:
        self._host, self._port, self._tls, self.present = host, port, tls, present
        self.evidence = evidence
        self.rule: Rule = pass_all
        self.refusing = False
        self.later_millis = 0
        self.held: list[Delivery] = []
        self.port = self.tls_port = 0
        self._sessions: list[_Session] = []
        self._servers: list[asyncio.Server] = []

    async def start(self, secured: ssl.SSLContext) -> None:
        """Listen at two ports; at `tls_port` over TLS."""
        for context in (None, secured):
            self._servers.append(await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context))
        self.port, self.tls_port = (each.sockets[0].getsockname()[1] for each in self._servers)

    async def stop(self) -> None:
        self.refusing = True
        self.cut()
        for server in self._servers:
            server.close()

    @property
    def consuming(self) -> int:
        """How many consumers are connected."""
        return sum(len(session.consumers) for session in self._sessions)

    @property
    def consumers(self) -> set[str]:
        """Their tags."""
        return {tag for session in self._sessions for tag in session.consumers}

    @property
    def unacknowledged(self) -> int:
        """How many deliveries the client has not acknowledged yet."""
        channels = (channel for session in self._sessions for channel in session.channels.values())
        return sum(len(channel.unacknowledged) for channel in channels)

    def treat(self, delivery: Delivery) -> Treatment:
        """What is done to a delivery that has just come."""
        treatment = self.rule(delivery)
        if treatment is Treatment.HELD:
            self.held.append(delivery)
        self.evidence.treated(delivery, treatment)
        return treatment

    def release(self, order: Callable[[list[Delivery]], list[Delivery]] = list) -> None:
        """Deliver what was held, in this order."""
        held, self.held = self.held, []
        self.inject(*order(held))

    def inject(self, *deliveries: Delivery) -> None:
        """Deliver these, of which the broker knows nothing, to their consumer; to another if it is gone."""
        for delivery in deliveries:
            connected = [session for session in reversed(self._sessions) if session.consumers]
            same = [session for session in connected if delivery.consumer in session.consumers]
            for session in (same or connected)[:1]:
                consumer = delivery.consumer if same else next(iter(session.consumers))
                session.deliver(replace(delivery, consumer=consumer))

    def cut(self) -> None:
        """Cut every connection."""
        for session in list(self._sessions):
            session.end()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusing:
            writer.transport.abort()
            return
        secured = ssl.create_default_context() if self._tls else None
        try:
            from_broker, to_broker = await asyncio.open_connection(self._host, self._port, ssl=secured)
        except OSError:
            writer.transport.abort()
            return
        session = _Session(self, writer, to_broker)
        self._sessions.append(session)
        pumps = [
            asyncio.create_task(session.from_client(reader)),
            asyncio.create_task(session.from_broker(from_broker)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._sessions.remove(session)
            for pump in pumps:
                pump.cancel()
            for outcome in await asyncio.gather(*pumps, return_exceptions=True):
                if isinstance(outcome, Exception) and not isinstance(outcome, EOFError | OSError):
                    self.evidence.note(f"the proxy failed: {outcome!r}")
            for each in (writer, to_broker):
                with suppress(OSError):
                    each.close()


async def _read(reader: asyncio.StreamReader) -> tuple[int, int, bytes]:
    """The next frame: its type, its channel, and all its bytes."""
    head = await reader.readexactly(_HEAD_BYTES)
    kind, number, size = struct.unpack(">BHI", head)
    return kind, number, head + await reader.readexactly(size + 1)


def _method(raw: bytes) -> tuple[int, int]:
    found: tuple[int, int] = struct.unpack_from(">HH", raw, _HEAD_BYTES)
    return found


def _on_channel(raw: bytes, number: int) -> bytes:
    return raw[:1] + struct.pack(">H", number) + raw[3:]
