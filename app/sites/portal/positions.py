"""Positions in lists that are in the order of creation, as links of pages carry them: `<Unix ms>-<id>`."""

import re
from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from app.kit.errors import Field, Invalid

Position = tuple[int, UUID]
_POSITION = re.compile(r"(\d{1,18})-([0-9a-f]{32})\Z", re.ASCII)


class _Listed(Protocol):
    """What such a list has."""

    @property
    def id(self) -> UUID: ...

    @property
    def created_at(self) -> int: ...


def read_position(before: str) -> Position | None:
    """The position that a page begins before; None without one. Raises `Invalid`."""
    if not before:
        return None
    found = _POSITION.match(before)
    if not found:
        raise Invalid(Field(("query", "before"), "Follow the links of this page.", "position", before[:100]))
    return int(found[1]), UUID(found[2])


def position_of_next(found: Sequence[_Listed], rows: int) -> str:
    """The position that the next page begins before, of a page of `rows`; empty unless more were found."""
    if len(found) <= rows:
        return ""
    last = found[rows - 1]
    return f"{last.created_at}-{last.id.hex}"
