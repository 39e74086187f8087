"""Queries that Piccolo builds once in the life of a process.

To build a query takes some hundred microseconds, often longer than to run it. Its text is the same at each
call, so it is built from placeholders at the first one, and later calls only fill in their values.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, NamedTuple, NoReturn, ParamSpec

from piccolo.query.base import Query

P = ParamSpec("P")
_MAX_FORMS = 256


class Statement(NamedTuple):
    """A query as PostgreSQL receives it: its text with `$1`, `$2`, …, and their values."""

    sql: str
    args: Sequence[Any]


class Placeholder:
    """Stands for the value of a parameter while its query is built, which must not depend on it."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __bool__(self) -> NoReturn:
        raise TypeError("a prepared query depends on the value of a parameter: make it keyword-only")

    def __str__(self) -> NoReturn:
        raise TypeError("a prepared query writes the value of a parameter into its text")


def compiled(query: Query[Any, Any]) -> Statement:
    """The statement of a query built with Piccolo."""
    (querystring,) = query.querystrings
    return Statement(*querystring.compile_string())


def prepared(build: Callable[P, Query[Any, Any]]) -> Callable[P, Statement]:
    """Build the query at the first call only. Positional arguments are the statement's parameters; what its
    text depends on (a table, a limit, an order) is keyword-only, and each form is built once."""

    @lru_cache(maxsize=_MAX_FORMS)
    def form(count: int, **fixed: Any) -> Statement:
        query: Any = build(*map(Placeholder, range(count)), **fixed)  # type: ignore[arg-type]
        return compiled(query)

    @wraps(build)
    def fill(*values: P.args, **fixed: P.kwargs) -> Statement:
        sql, places = form(len(values), **fixed)  # type: ignore[arg-type]  # what fixes a text is hashable
        return Statement(sql, [values[one.index] if type(one) is Placeholder else one for one in places])

    return fill
