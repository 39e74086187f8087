"""Finished frames are what a server would have sent."""

import asyncio
from typing import Any

import msgspec
import pytest
from websockets.frames import Frame, Opcode

from app.channels.stream.frames import digest, wired
from app.channels.stream.lines import ServerLine, texts


@pytest.mark.parametrize("size", [0, 1, 50, 125, 126, 127, 65_000, 65_535, 65_536, 200_000])
def test_texts_are_found_in_what_goes_over_the_wire(size: int) -> None:
    words = ["x" * size, "é" * (size // 2), ""]
    wire = b"".join(bytes(Frame(Opcode.TEXT, word.encode()).serialize(mask=False)) for word in words)
    assert list(texts(wire)) == words


def test_an_envelope_is_json_and_says_what_it_must() -> None:
    data = msgspec.json.encode({"id": "é", "odds": 1.85})
    (text,) = texts(wired("match.updated", data, 1_800_000_000_125, 7, snapshot=True))
    assert msgspec.json.decode(text) == {
        "type": "match.updated",
        "data": {"id": "é", "odds": 1.85},
        "meta": {
            "ts": "2027-01-15T08:00:00.125Z",
            "seq": 7,
            "hash": digest(data),
            "snapshot": True,
        },
    }
    (plain,) = texts(wired("alive", data, 1_800_000_000_125, 7))
    assert "snapshot" not in msgspec.json.decode(plain)["meta"]


@pytest.mark.anyio
async def test_what_is_written_once_a_line_is_drained_goes_out_too() -> None:
    sent: list[Any] = []
    waiting = [wired("alive", b"{}", 0, seq) for seq in (2, 3)]
    gone = asyncio.Event()

    async def send(message: Any) -> None:
        await asyncio.sleep(0)
        sent.append(message["text"])

    def more() -> None:
        if waiting:
            line.write(waiting.pop(0))
        else:
            gone.set()

    line = ServerLine(send)
    line.on_drained = more
    line.write(wired("alive", b"{}", 0, 1))
    async with asyncio.timeout(5):
        await gone.wait()
    assert [msgspec.json.decode(text)["meta"]["seq"] for text in sent] == [1, 2, 3]
    assert not line.congested
