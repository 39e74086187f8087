"""Positions in lists that pages link to."""

from typing import Annotated

from litestar.params import QueryParameter

from app.kit.errors import Field, Invalid

NEWEST = 2**63 - 1
#: A change, as an address has it: a page begins below it.
Before = Annotated[int, QueryParameter(ge=1, le=NEWEST)]


def position(before: str) -> int:
    """The id that a page begins below; without one, above all. Raises `Invalid`."""
    if not before:
        return NEWEST
    if not (before.isascii() and before.isdigit() and len(before) < 19):
        raise Invalid(Field(("before",), "Follow the links of this page.", "position", before[:100]))
    return int(before)
