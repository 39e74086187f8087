"""Which part of a file a request means, by RFC 9110."""

import asyncio
import os
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.http.file_response import ByteRange, FileResponse, requested_range
from app.kit.errors import RangeNotSatisfiable

TAG = '"abc"'
SIZES = st.integers(1, 2000)


def asked(text: str, size: int, condition: str = "") -> ByteRange | None:
    headers = [(b"range", text.encode())]
    headers += [(b"if-range", condition.encode())] if condition else []
    return requested_range(headers, size, TAG)


@given(SIZES, st.data())
def test_every_way_to_name_a_part(size: int, data: st.DataObject) -> None:
    """Compared with slices of bytes."""
    body = bytes(number % 251 for number in range(size))
    begin = data.draw(st.integers(0, size - 1))
    last = data.draw(st.integers(begin, 2 * size))
    suffix = data.draw(st.integers(1, 2 * size))
    for text, expected in (
        (f"bytes={begin}-{last}", body[begin : last + 1]),
        (f"bytes={begin}-", body[begin:]),
        (f"bytes=-{suffix}", body[-suffix:]),
    ):
        for condition in ("", TAG):
            part = asked(text, size, condition)
            assert part and body[part.begin : part.begin + part.length] == expected


@given(SIZES, st.integers(0, 5000))
def test_a_part_behind_the_end_is_refused(size: int, more: int) -> None:
    for text in (f"bytes={size + more}-", f"bytes={size + more}-{size + more + 1}", "bytes=-0"):
        with pytest.raises(RangeNotSatisfiable) as refused:
            asked(text, size)
        assert refused.value.size == size


@pytest.mark.parametrize(
    "text",
    ["", "bytes", "bytes=", "bytes=-", "bytes=5-4", "bytes=0-1,2-3", "items=0-1", "bytes=a-b", "bytes=1"],
)
def test_anything_else_means_the_whole_file(text: str) -> None:
    assert asked(text, 10) is None


@pytest.mark.parametrize("condition", ['"abd"', 'W/"abc"', "Tue, 14 Nov 2023 00:00:00 GMT", '"abc", "abd"'])
def test_a_condition_that_does_not_hold_means_the_whole_file(condition: str) -> None:
    assert asked("bytes=100-", 10, condition) is None


def test_without_a_range_and_with_two() -> None:
    assert requested_range([], 10, TAG) is None
    assert requested_range([(b"range", b"bytes=0-1"), (b"range", b"bytes=3-4")], 10, TAG) is None


async def test_a_file_that_becomes_shorter_ends_the_response(tmp_path: Path) -> None:
    """It is not complete, so that the server closes the connection; nor does it go on for ever."""
    path, sent = tmp_path / "file", list[bytes]()
    path.write_bytes(bytes(1_000_000))
    answer = FileResponse(path, size=1_000_000, tag="abc", media_type="text/csv", name="file")

    async def send(event: Any) -> None:
        assert len(sent) < 10
        if event["type"] == "http.response.body":
            sent.append(event["body"])
            os.truncate(path, 1000)

    async def receive() -> Any:
        await asyncio.Event().wait()

    respond: Any = answer.to_asgi_response(None, cast(Any, None))
    with pytest.raises(EOFError, match="shorter"):
        await respond({"method": "GET", "headers": []}, receive, send)
    assert 0 < sum(map(len, sent)) < 1_000_000
