"""The AMQP frames of a message: those of a live one are marshalled once and written to every tenant.

That is possible because live messages have the same channel number on every connection, and the exchange has
the same name. The client libraries refuse frames that they did not marshal, hence this module.
"""

from datetime import UTC, datetime

import msgspec
from pamqp import body, commands, constants, frame, header

from app.broker import connection

connection.use_signed_integers()
CHANNEL = 1  #: that of live messages
CONTENT_TYPE = "application/xml"
FRAME_MAX = 131_072  #: RabbitMQ's default; a connection that negotiated less gets frames of its own
_OVERHEAD = constants.FRAME_HEADER_SIZE + 1  # and the end octet
_PERSISTENT, _TRANSIENT = 2, 1


class AmqpMessage(msgspec.Struct, frozen=True):
    """A message to publish. `at` is Unix ms, on the wire whole seconds; headers are numbers or short texts.
    A `mandatory` one must reach a queue."""

    exchange: str
    routing_key: str
    body: bytes
    message_id: str | None
    at: int
    headers: dict[str, int | str]
    persistent: bool = True
    mandatory: bool = False

    @property
    def timestamp(self) -> datetime:
        return datetime.fromtimestamp(self.at // 1000, UTC)


def marshal(message: AmqpMessage, frame_max: int = FRAME_MAX, channel: int = CHANNEL) -> bytes:
    """Method, header and body frames, in order; no frame is longer than `frame_max`."""
    properties = commands.Basic.Properties(
        content_type=CONTENT_TYPE,
        headers=dict(message.headers),
        delivery_mode=_PERSISTENT if message.persistent else _TRANSIENT,
        message_id=message.message_id,
        timestamp=message.timestamp,
    )
    publish = commands.Basic.Publish(
        exchange=message.exchange, routing_key=message.routing_key, mandatory=message.mandatory
    )
    content = message.body
    step = frame_max - _OVERHEAD
    return b"".join(
        (
            frame.marshal(publish, channel),
            frame.marshal(header.ContentHeader(0, len(content), properties), channel),
            *(
                frame.marshal(body.ContentBody(content[start : start + step]), channel)
                for start in range(0, len(content), step)
            ),
        )
    )
