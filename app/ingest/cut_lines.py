"""Bodies that end within a line, as those of a relay that forwards a file in blocks; pure.

What such a body ends with waits for the rest of its line. A relay that leaves out the last line end sends
whole lines all the same: each of its bodies begins with a timestamp, and its last line waits only if it may
be cut off. The beginning of a line may read as another line ("13:1" of "13:11"), so one that goes on in the
next body is never read before it.
"""

import re

from app.ingest.cs2log.reader import parse, split_timestamp

_MAX_LINE = 4_096  #: bytes, more than a server writes
_STAMP = 40  #: bytes, more than a timestamp has
_STAMP_BEGUN = re.compile(r"(?:L ?)?[\d/ :.-]*", re.ASCII)


def whole_lines(begun: bytes, body: bytes) -> tuple[bytes, bytes]:
    """The whole lines of a body that comes after `begun`, the beginning of a line, or after b"", and the
    beginning of a line that it ends with."""
    continues = bool(begun) and not (_is_stamped(begun) and _is_stamped(body[:_STAMP]))
    text = begun + body if continues or not begun else begun + b"\n" + body
    end = text.rfind(b"\n") + 1
    rest = text[end:]
    if _may_be_cut(rest) and (continues or not says_something(rest)):
        return text[:end], rest
    return text, b""


def says_something(line: bytes) -> bool:
    """Whether a line, read as it is, leads to a fact."""
    found = split_timestamp(_text(line))
    return found is not None and not isinstance(parse(found[1], 0), bool)


def _may_be_cut(rest: bytes) -> bool:
    """Whether that is the beginning of a line: of another program's it need not be."""
    line = _text(rest)
    begins_line = _is_stamped(rest) or _STAMP_BEGUN.fullmatch(line) is not None
    return bool(line.strip()) and len(rest) <= _MAX_LINE and begins_line


def _is_stamped(line: bytes) -> bool:
    return split_timestamp(_text(line)) is not None


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").removeprefix("\ufeff")
