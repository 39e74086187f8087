"""Files that others compressed with gzip."""

import gzip
import io
import zlib

_MARK = b"\x1f\x8b"


def is_gzip(body: bytes) -> bool:
    """Whether the bytes begin as a file of gzip does."""
    return body.startswith(_MARK)


def decompressed(body: bytes, most: int) -> bytes:
    """The content of a file of gzip. Raises `ValueError` for a damaged file, and for more than `most` bytes,
    of which it reads one: a thousandth of them, compressed, can stand for them all."""
    try:
        found = gzip.GzipFile(fileobj=io.BytesIO(body)).read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"it is no whole file of gzip ({error})") from error
    if len(found) > most:
        raise ValueError(f"decompressed, it has more than {most} bytes")
    return found
