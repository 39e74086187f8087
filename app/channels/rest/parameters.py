"""Query parameters that several routes share, and pages of lists that are ordered by number.

A cursor is the number of the last row shown: the next page begins after it, whatever was inserted in between.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from litestar.params import QueryParameter
from msgspec import UNSET

from app.domain.analytics import TimeFilter
from app.store.entrants import E
from app.wire.views.meta import ListMeta, Many

V = TypeVar("V")
_CURSOR = "The `next_cursor` of the page before, unchanged."
Cursor = Annotated[str | None, QueryParameter(pattern=r"^[0-9]{1,10}$", description=_CURSOR)]
#: The same of a list of ledger entries, whose numbers are larger.
EntryCursor = Annotated[str | None, QueryParameter(pattern=r"^[0-9]{1,19}$", description=_CURSOR)]
Limit = Annotated[int, QueryParameter(ge=1, le=200, description="Rows at most.")]
Window = Annotated[TimeFilter, QueryParameter(description="How far back to look; a month has 30 days.")]


def after_cursor(cursor: str | None) -> int:
    """The number after which the page begins."""
    return min(int(cursor), 2**31 - 1) if cursor else 0


def page(found: Sequence[E], limit: int, view: Callable[[E], V]) -> Many[V]:
    """The page of the first `limit` rows of `found`, which has one more if another page follows."""
    rows = found[:limit]
    following = str(rows[-1].id) if len(found) > limit else UNSET
    return Many(tuple(map(view, rows)), ListMeta(len(rows), limit, next_cursor=following))
