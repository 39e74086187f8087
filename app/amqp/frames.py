"""AMQP frames of one message, marshalled once and written as they are to any number of connections.

That works because every connection of the feed publishes on the same channel number, to an exchange of
the same name. The client libraries refuse frames that they did not marshal, hence this module.
"""

from datetime import UTC, datetime

import msgspec
from pamqp import body, commands, constants, frame, header

from app.broker import integers

integers.use_signed_integers()
CHANNEL = 1
FRAME_MAX = 131_072  #: RabbitMQ's own offer; a connection that was granted less gets frames of its own
_OVERHEAD = constants.FRAME_HEADER_SIZE + 1  # and the end octet
_PERSISTENT = 2


class Message(msgspec.Struct, frozen=True):
    """What is published. `at` is Unix ms, told as whole seconds; headers are numbers or short texts."""

    exchange: str
    routing_key: str
    body: bytes
    message_id: str
    at: int
    headers: dict[str, int | str]


def marshal(message: Message, frame_max: int = FRAME_MAX) -> bytes:
    """Method, header and body frames, in order; no frame is longer than `frame_max`."""
    properties = commands.Basic.Properties(
        content_type="application/xml",
        headers=dict(message.headers),
        delivery_mode=_PERSISTENT,
        message_id=message.message_id,
        timestamp=datetime.fromtimestamp(message.at // 1000, UTC),
    )
    publish = commands.Basic.Publish(exchange=message.exchange, routing_key=message.routing_key)
    content = message.body
    step = frame_max - _OVERHEAD
    return b"".join(
        (
            frame.marshal(publish, CHANNEL),
            frame.marshal(header.ContentHeader(0, len(content), properties), CHANNEL),
            *(
                frame.marshal(body.ContentBody(content[start : start + step]), CHANNEL)
                for start in range(0, len(content), step)
            ),
        )
    )
