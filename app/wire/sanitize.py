"""External values as far as a document can represent them; what it cannot represent is left out."""

import re

_URL = re.compile(r"https?://[^\s\x00-\x1f\ud800-\udfff\ufffe\uffff]\S*")
_LAST_MILLISECOND = 253_402_300_799_999  #: the end of the year 9999
_LARGEST = 2**31 - 1


def web_url(text: str) -> str | None:
    """`text` if it is an absolute HTTP URL, else None."""
    return text if _URL.fullmatch(text) else None


def timestamp(ms: int | None) -> int | None:
    """`ms` (Unix ms) if it lies in the years 1970 to 9999, else None."""
    return ms if ms is not None and 0 <= ms <= _LAST_MILLISECOND else None


def non_negative(value: int) -> int:
    """`value`, limited to what xs:int holds from 0 on."""
    return min(max(value, 0), _LARGEST)
