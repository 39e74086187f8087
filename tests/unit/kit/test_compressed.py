"""Files of gzip: what is damaged or too large is refused, whatever it would unfold to."""

import gzip

import pytest

from app.kit.compressed import decompressed

WHOLE = gzip.compress(b"x" * 1000)


def test_a_whole_file_is_read() -> None:
    assert decompressed(WHOLE, 1000) == b"x" * 1000
    assert decompressed(WHOLE + WHOLE, 2000) == b"x" * 2000


@pytest.mark.parametrize("body", [WHOLE, WHOLE + WHOLE, gzip.compress(bytes(1024) * 1024)])
def test_a_larger_one_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="more than 999 bytes"):
        decompressed(body, 999)


@pytest.mark.parametrize(
    "body", [WHOLE[:-9], WHOLE[:10] + b"\xff" * 9, WHOLE[:-8] + bytes(8), b"\x1f\x8bx", b"hello"]
)
def test_a_damaged_one_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="no whole file of gzip"):
        decompressed(body, 1000)
