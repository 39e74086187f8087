"""Encoded frames are what a server would have sent."""

import asyncio
from typing import Any

import msgspec
import pytest
from websockets.frames import Frame, Opcode

from app.channels.stream.connection import AsgiTransport, frame_texts
from app.channels.stream.frames import content_hash, encode_frame


@pytest.mark.parametrize("size", [0, 1, 50, 125, 126, 127, 65_000, 65_535, 65_536, 200_000])
def test_texts_are_decoded_from_encoded_frames(size: int) -> None:
    texts = ["x" * size, "é" * (size // 2), ""]
    wire = b"".join(bytes(Frame(Opcode.TEXT, text.encode()).serialize(mask=False)) for text in texts)
    assert list(frame_texts(wire)) == texts


def test_a_frame_is_json_with_type_data_and_meta() -> None:
    shown = {"id": "é", "odds": 1.85}
    data = msgspec.json.encode(shown)
    (text,) = frame_texts(encode_frame("match.updated", data, 1_800_000_000_125, 7, snapshot=True))
    meta = {"ts": "2027-01-15T08:00:00.125Z", "seq": 7, "hash": content_hash(data), "snapshot": True}
    assert msgspec.json.decode(text) == {"type": "match.updated", "data": shown, "meta": meta}
    (plain,) = frame_texts(encode_frame("alive", data, 1_800_000_000_125, 7))
    assert "snapshot" not in msgspec.json.decode(plain)["meta"]


async def test_frames_written_when_the_transport_drains_are_sent_too() -> None:
    sent: list[Any] = []
    waiting = [encode_frame("alive", b"{}", 0, seq) for seq in (2, 3)]
    done = asyncio.Event()

    async def send(message: Any) -> None:
        await asyncio.sleep(0)
        sent.append(message["text"])

    def more() -> None:
        if waiting:
            transport.write(waiting.pop(0))
        else:
            done.set()

    transport = AsgiTransport(send)
    transport.on_drained = more
    transport.write(encode_frame("alive", b"{}", 0, 1))
    async with asyncio.timeout(60):
        await done.wait()
    assert [msgspec.json.decode(text)["meta"]["seq"] for text in sent] == [1, 2, 3]
    assert not transport.congested
