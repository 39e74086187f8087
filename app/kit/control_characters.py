"""Control characters in texts: they rewrite a terminal's lines, or reverse the order in which text is
displayed (bidirectional controls).

Input texts that contain them are rejected, names from logs are stripped of them, and what an earlier version
accepted is printed to a terminal with them escaped.
"""

import re
from collections.abc import Iterator
from typing import Any

#: C0 without white space, DEL and C1, direction marks and overrides.
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_PATTERN = re.compile(f"[{_CONTROLS}]")
_ASCII_CONTROLS = bytes(code for code in range(128) if _PATTERN.match(chr(code)))


def has_control_characters(text: str) -> bool:
    """Whether the text contains one."""
    return _PATTERN.search(text) is not None


def strip_control_characters(text: str) -> str:
    """The text without them. Nearly all text is ASCII, in which bytes are deleted much faster."""
    if text.isascii():
        return text.encode("ascii").translate(None, _ASCII_CONTROLS).decode("ascii")
    return _PATTERN.sub("", text)


def escape_control_characters(text: str) -> str:
    """The text with each of them as its code point, for a terminal."""
    return _PATTERN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def contains_control_characters(value: Any) -> bool:
    """Whether any text in a JSON value (nested lists, or tuples, and dictionaries) contains one."""
    return any(has_control_characters(text) for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
