"""What the benchmark of many vhosts reads from a tenant's queue."""

from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from pamqp import body, commands, frame, header

from app.amqp.connection import PublisherConnection
from app.amqp.frames import AmqpMessage, marshal
from app.broker.connection import use_signed_integers
from scripts.bench.vhosts_rig import Receiver

SEQS = st.integers(1, 2**50)


class _Taken:
    _received_at = 0.0


def delivered(seqs: list[int]) -> bytes:
    """The frames by which a broker delivers live messages with these numbers."""
    use_signed_integers()
    frames = b""
    for seq in seqs:
        properties = commands.Basic.Properties(headers={"x-seq": seq, "x-prev-seq": max(0, seq - 1)})
        frames += frame.marshal(commands.Basic.Deliver("tag", 1, False, "oddsfeed", "hi.x"), 1)
        frames += frame.marshal(header.ContentHeader(0, 4, properties), 1)
        frames += frame.marshal(body.ContentBody(b"<a/>"), 1)
    return frames


@given(st.lists(SEQS, min_size=1, max_size=5), st.integers(1, 200))
async def test_the_highest_number_is_seen_however_the_bytes_come(seqs: list[int], cut: int) -> None:
    receiver = Receiver()
    receiver._connection = cast(PublisherConnection, _Taken())
    data = delivered(sorted(seqs))
    for start in range(0, len(data), cut):
        receiver.data_received(data[start : start + cut])
    assert receiver.seq == max(seqs)


async def test_what_has_no_number_counts_as_nothing() -> None:
    receiver = Receiver()
    receiver._connection = cast(PublisherConnection, _Taken())
    receiver.data_received(marshal(AmqpMessage("oddsfeed", "-", b"<alive/>", "alive-1", 0, {}), 131072, 1))
    assert receiver.seq == 0
