"""Values that somebody gave us, as far as a document can say them; what it cannot is left out."""

import re

_ADDRESS = re.compile(r"https?://[^\s\x00-\x1f\ud800-\udfff\ufffe\uffff]\S*")
_LAST_MOMENT = 253_402_300_799_999  #: the end of the year 9999
_LARGEST = 2**31 - 1


def address(text: str) -> str | None:
    """`text` if it is an absolute address of the web."""
    return text if _ADDRESS.fullmatch(text) else None


def moment(ms: int | None) -> int | None:
    """A time (Unix ms) that a calendar of four-digit years has."""
    return ms if ms is not None and 0 <= ms <= _LAST_MOMENT else None


def rank(value: int) -> int:
    """A whole number from 0."""
    return min(max(value, 0), _LARGEST)
