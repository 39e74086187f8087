"""Lists of the portal that have tabs and pages: the tab of an address, and the place where a page begins."""

import re
from collections.abc import Collection, Sequence
from typing import Annotated, Protocol
from uuid import UUID

from litestar.params import QueryParameter

from app.kit.errors import Field, Invalid

ROWS = 50  #: the rows of a page
#: The tabs of lists whose items remain after they have ended.
TABS = ("active", "ended")
Tab = Annotated[str, QueryParameter(name="list")]
#: Of a list in the order of creation: Unix ms and id, `<Unix ms>-<id>` in links.
Position = tuple[int, UUID]
_POSITION = re.compile(r"(\d{1,18})-([0-9a-f]{32})\Z", re.ASCII)


class _Listed(Protocol):
    """An item of a list in the order of creation."""

    @property
    def id(self) -> UUID: ...

    @property
    def created_at(self) -> int: ...


def check_tab(tab: str, known: Collection[str]) -> None:
    """Raise `Invalid` for a tab that the page does not have."""
    if tab not in known:
        raise Invalid(Field(("query", "list"), f"Choose one of {', '.join(known)}.", "choice", tab[:100]))


def position_before(before: str) -> Position | None:
    """The position that a page begins before; None without one. Raises `Invalid`."""
    found = matched("before", before, _POSITION)
    return (int(found[1]), UUID(found[2])) if found else None


def position_of_next(found: Sequence[_Listed]) -> str:
    """The position that the next page begins before; empty unless more than `ROWS` were found."""
    if len(found) <= ROWS:
        return ""
    last = found[ROWS - 1]
    return f"{last.created_at}-{last.id.hex}"


def matched(name: str, position: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """The parts of a position; None without one. Raises `Invalid`."""
    if not position:
        return None
    found = pattern.match(position)
    if not found:
        raise Invalid(Field(("query", name), "Follow the links of this page.", "position", position[:100]))
    return found
