"""Characters that steer whatever shows a text, and are no part of one: they rewrite a terminal's lines, or
turn the order of what is read round (bidirectional controls).

Texts that people give us are refused for them, names from logs lose them, and what an earlier version let in
is shown in a terminal with their numbers.
"""

import re
from collections.abc import Iterator
from typing import Any

#: C0 but white space, DEL and C1, marks and overrides of direction.
_UNFIT = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_STEERING = re.compile(f"[{_UNFIT}]")


def has_control_characters(text: str) -> bool:
    """Whether there is such a character in it."""
    return _STEERING.search(text) is not None


def strip_control_characters(text: str) -> str:
    """The text without them."""
    return _STEERING.sub("", text)


def escape_control_characters(text: str) -> str:
    """The text with each of them as its number, for a terminal."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def any_control_characters(value: Any) -> bool:
    """Whether a text in it (lists and dictionaries of texts, as JSON has them) has such a character."""
    return any(has_control_characters(text) for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
