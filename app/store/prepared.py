"""Queries that Piccolo builds once in the life of a process.

To build a query takes some hundred microseconds, often longer than to run it. Its text is the same at each
call, so it is built from placeholders at the first one, and later calls only fill in their values.
"""

from collections.abc import Callable, Sequence
from functools import wraps
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


class _Form(NamedTuple):
    """The text of a query for certain keyword-only arguments, and its values: places in the call's positional
    arguments and constants, or None when they are those arguments, one after the other."""

    sql: str
    values: list[Any] | None


def _form(query: Query[Any, Any], count: int) -> _Form:
    sql, values = compiled(query)
    same = [one.index for one in values if type(one) is Placeholder] == list(range(count))
    return _Form(sql, None if same and len(values) == count else list(values))


def prepared(build: Callable[P, Query[Any, Any]]) -> Callable[P, Statement]:
    """Build the query at the first call only. Positional arguments are the statement's parameters; what its
    text depends on (a table, a limit, an order) is keyword-only, and each form is built once."""
    forms: dict[tuple[object, ...], _Form] = {}

    @wraps(build)
    def fill(*args: P.args, **fixed: P.kwargs) -> Statement:
        key = (len(args), *fixed.items())
        form = forms.get(key)
        if form is None:
            if len(forms) >= _MAX_FORMS:  # a client chooses limits
                forms.clear()
            query: Any = build(*map(Placeholder, range(len(args))), **fixed)  # type: ignore[arg-type]
            form = forms[key] = _form(query, len(args))
        sql, values = form
        if values is None:
            return Statement(sql, args)
        return Statement(sql, [args[one.index] if type(one) is Placeholder else one for one in values])

    return fill
