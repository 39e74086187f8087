from hypothesis import given
from hypothesis import strategies as st
from pamqp import body, commands, frame, header

from app.amqp.frames import CHANNEL, AmqpMessage, marshal


def parsed(data: bytes) -> list[object]:
    frames = []
    while data:
        used, channel, value = frame.unmarshal(data)
        assert channel == CHANNEL
        frames.append(value)
        data = data[used:]
    return frames


@given(st.binary(max_size=9000), st.integers(4096, 8192), st.integers(0, 2**62), st.integers(0, 2**62))
def test_frames_say_what_the_message_is(content: bytes, frame_max: int, seq: int, prev: int) -> None:
    message = AmqpMessage(
        "oddsfeed", "a.b.c", content, f"mf-{seq}", 1_932_912_000_125, {"x-seq": seq, "x-prev-seq": prev}
    )
    publish, head, *parts = parsed(marshal(message, frame_max))
    assert isinstance(publish, commands.Basic.Publish)
    assert (publish.exchange, publish.routing_key, publish.mandatory) == ("oddsfeed", "a.b.c", False)
    assert isinstance(head, header.ContentHeader)
    properties = head.properties
    assert head.body_size == len(content)
    assert properties.headers == {"x-seq": seq, "x-prev-seq": prev}
    assert properties.message_id == f"mf-{seq}"
    assert properties.timestamp.timestamp() == 1_932_912_000
    assert (properties.content_type, properties.delivery_mode) == ("application/xml", 2)
    assert b"".join(part.value for part in parts if isinstance(part, body.ContentBody)) == content
    assert all(len(part.value) + 8 <= frame_max for part in parts if isinstance(part, body.ContentBody))
