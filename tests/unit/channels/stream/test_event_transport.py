"""Frames as server-sent events, by the rules of the format (WHATWG HTML, 9.2.6)."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.channels.stream.changes import _cursor, _place
from app.channels.stream.connection import frame_texts
from app.channels.stream.event_stream import EventTransport, events_of
from app.channels.stream.frames import encode_frame
from app.channels.stream.snapshot import SnapshotPlace
from app.domain import frame_types
from tests.support.eventually import eventually

DATA = st.recursive(
    st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)
FRAMES = st.lists(
    st.tuples(
        st.sampled_from([*frame_types.REQUIRED_SCOPES, frame_types.ALIVE]),
        DATA,
        st.integers(0, 10**18),
        st.sampled_from([None, True, False]),
    )
)


def dispatched(stream: bytes) -> list[tuple[str, str, str]]:
    """Name, last id and data of each event that a browser would dispatch."""
    found, last_id, name, data = [], "", "", list[str]()
    for line in stream.decode().split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line and data:
            found.append((name, last_id, "\n".join(data)))
            name, data = "", []
        elif field == "event":
            name = value
        elif field == "id":
            last_id = value
        elif field == "data":
            data.append(value)
    return found


@given(FRAMES)
def test_each_frame_is_an_event(frames: list[tuple[str, Any, int, bool | None]]) -> None:
    wire = b"".join(
        encode_frame(kind, msgspec.json.encode(data), 0, seq, snapshot=snapshot)
        for kind, data, seq, snapshot in frames
    )
    last_id, expected = "", []
    for text, (kind, _, seq, snapshot) in zip(frame_texts(wire), frames, strict=True):
        last_id = last_id if snapshot and kind != frame_types.ALIVE else str(seq)
        expected.append((kind, last_id, text))
    assert dispatched(events_of(wire)) == expected


class Sent:
    """The body that a transport sends, and whether it is cut off."""

    def __init__(self) -> None:
        self.body = b""
        self.complete = self.aborted = False

    async def send(self, message: Any) -> None:
        self.body += message["body"]
        self.complete = not message["more_body"]

    def abort(self) -> None:
        self.aborted = True


async def test_before_the_response_nothing_is_sent() -> None:
    sent = Sent()
    transport = EventTransport(sent.send, sent.abort)
    transport.finish(1008, "the key ended")
    assert not transport.congested
    assert sent.body == b""


async def test_the_end_is_told_and_then_enforced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.channels.stream.event_stream._LINGER_SECONDS", 0)
    sent = Sent()
    transport = EventTransport(sent.send, sent.abort)
    transport.begin()
    transport.write(encode_frame("alive", b"{}", 0, 1))
    transport.finish(4008, "too slow")
    transport.write(encode_frame("alive", b"{}", 0, 2))
    await eventually(lambda: sent.complete and sent.aborted)
    (_, _, alive), (name, last_id, reason) = dispatched(sent.body)
    assert msgspec.json.decode(alive)["meta"]["seq"] == 1
    assert (name, last_id) == ("closed", "1")
    assert msgspec.json.decode(reason) == {"code": 4008, "reason": "too slow"}


@given(
    st.builds(
        SnapshotPlace,
        st.integers(0, 10**18 - 1),
        st.integers(1, 10**10 - 1),
        st.just((0, ""))
        | st.tuples(st.integers(1, 10**9 - 1), st.from_regex(r"[!-~]{0,200}", fullmatch=True)),
    )
)
def test_a_cursor_names_its_place(place: SnapshotPlace) -> None:
    assert _place(_cursor(place)) == place
