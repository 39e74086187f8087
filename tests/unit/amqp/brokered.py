"""A tenant's connection whose broker is here: it records what is published, and answers when a test says
so. And what is published on it: a tenant, its publisher, rows of the change log, envelopes."""

import asyncio
from collections.abc import Callable
from typing import Any, cast
from unittest.mock import Mock
from uuid import UUID

from pamqp import body, commands, frame, header

from app.amqp.connection import ConfirmListener, PublisherConnection
from app.amqp.envelope import Envelope
from app.amqp.frames import AmqpMessage
from app.amqp.loss_notice import LossNotice
from app.amqp.tenant_channels import ConfirmedChannel, LiveDelay
from app.amqp.tenant_publisher import TenantPublisher
from app.store.changes import ChangeRow
from app.store.cursors import LeasedTenant

MATCH = UUID(int=1)
TAKEN = LeasedTenant(UUID(int=1), "acme", "acme", 0, 1)
#: The channels of messages that one tenant alone receives.
ALIVE, REPLAYED = 2, 3


class RecordedNotice(LossNotice):
    """A notice that is published as soon as there is one."""

    @property
    def must_notify_first(self) -> bool:
        return False


class Broker:
    """`published` is the id of every message by channel, `order` of all in the order of writing; `requests`
    are methods that have no answer yet; `together` is how many messages each `writelines` had."""

    def __init__(self, listener: ConfirmListener | None = None) -> None:
        self.connection = PublisherConnection(listener or Mock(ConfirmListener))
        self.order: list[tuple[int, str | None]] = []
        self.published: dict[int, list[str | None]] = {}
        self.requests: list[tuple[int, Any]] = []
        self.together: list[int] = []
        self._over = False
        self.connection._transport = cast(asyncio.Transport, self)

    def send(self, channel: int, *values: Any, cut: int = 0) -> None:
        """Send frames, in pieces of `cut` bytes."""
        data = b"".join(frame.marshal(value, channel) for value in values)
        cut = cut or len(data)
        for start in range(0, len(data), cut):
            self.connection.data_received(data[start : start + cut])

    def ack(self, channel: int, tag: int, *, multiple: bool = False, cut: int = 0) -> None:
        self.send(channel, commands.Basic.Ack(tag, multiple), cut=cut)

    def nack(self, channel: int, tag: int, *, multiple: bool = False, cut: int = 0) -> None:
        self.send(channel, commands.Basic.Nack(tag, multiple, requeue=False), cut=cut)

    def return_(self, channel: int, message_id: str, *, cut: int = 0) -> None:
        """Return a mandatory message."""
        content = header.ContentHeader(0, 4, commands.Basic.Properties(message_id=message_id))
        returned = commands.Basic.Return(312, "NO_ROUTE", "oddsfeed", "a.b")
        self.send(channel, returned, content, body.ContentBody(b"<a/>"), cut=cut)

    # What a connection uses of its transport.
    def write(self, data: bytes) -> None:
        while data:
            used, channel, value = frame.unmarshal(data)
            data = data[used:]
            if isinstance(value, header.ContentHeader):
                self.order.append((channel, value.properties.message_id))
                self.published.setdefault(channel, []).append(value.properties.message_id)
            elif isinstance(value, commands.Channel.Open):
                self.send(channel, commands.Channel.OpenOk())
            elif isinstance(value, commands.Confirm.Select):
                self.send(channel, commands.Confirm.SelectOk())
            elif not isinstance(value, body.ContentBody | commands.Basic.Publish):
                self.requests.append((channel, value))

    def writelines(self, pieces: list[bytes]) -> None:
        self.together.append(len(pieces))
        for each in pieces:
            self.write(each)

    def abort(self) -> None:
        if not self._over:
            self._over = True
            asyncio.get_running_loop().call_soon(self.connection.connection_lost, None)

    def is_closing(self) -> bool:
        return self._over


def publisher_of(taken: LeasedTenant, **fields: Any) -> TenantPublisher:
    """A tenant's publisher, by default of every match and with nobody who hears of its progress."""
    unheard: dict[str, Any] = {
        "is_booked": lambda tenant, match, seq: True,
        "request_backlog": lambda _: None,
        "cursor_moved": lambda _: None,
    }
    return TenantPublisher(taken, RecordedNotice(taken, 10), **unheard | fields)


async def opened(
    broker: Broker,
    number: int = REPLAYED,
    may_publish: Callable[[], bool] = lambda: True,
    live: LiveDelay | None = None,
) -> ConfirmedChannel:
    channel = ConfirmedChannel(broker.connection, number, may_publish, live)
    await channel.open()
    return channel


def change(seq: int, message: str, body: bytes = b'{"change_type":1}') -> ChangeRow:
    """A row of the change log: a message about one match."""
    return ChangeRow(seq, MATCH, 7, "match", "od:match:7", "", message, 1_000, seq, seq - 1, body)


def envelope(seq: int, frames: bytes, match: UUID = MATCH) -> Envelope:
    return Envelope(seq, 0, match, 0, "odds_change", AmqpMessage("x", "k", b"", f"mf-{seq}", 0, {}), frames)


def message(name: str, *, mandatory: bool = False, size: int = 4) -> AmqpMessage:
    return AmqpMessage("oddsfeed", "a.b", b"x" * size, name, 0, {}, mandatory=mandatory)


async def went_on() -> None:
    """Let every task go as far as it can."""
    for _ in range(100):
        await asyncio.sleep(0)
