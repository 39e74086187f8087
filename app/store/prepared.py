"""Queries that Piccolo builds once in the life of a process, and functions that run one of them.

To build a query takes some hundred microseconds, often longer than to run it. Its text is the same at each
call, so it is built from placeholders at the first one, and later calls only fill in their values
(`prepared`).

A function that only runs one query is written as the function that builds the query: the other decorators
turn it into one that runs it. Its positional-only parameters are the query's; what the text depends on is
keyword-only.
"""

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, NamedTuple, NoReturn, ParamSpec, TypeVar
from uuid import UUID

from piccolo.query.base import Query

from app.store.transaction import Row, Statement, Tx, compiled

P = ParamSpec("P")
T = TypeVar("T")
Build = Callable[P, Query[Any, Any]]
Run = Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]]
_MAX_FORMS = 256


class Placeholder:
    """The place of a parameter's value while the query is built; its text must not depend on the value."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __bool__(self) -> NoReturn:
        raise TypeError("a prepared query depends on the value of a parameter: make it keyword-only")

    def __str__(self) -> NoReturn:
        raise TypeError("a prepared query writes the value of a parameter into its text")


class _Form(NamedTuple):
    """The text of a query for certain keyword-only arguments, and its values: places in the call's positional
    arguments and constants, or None when they are those arguments, one after the other."""

    sql: str
    values: list[Any] | None


def _form(query: Query[Any, Any], count: int) -> _Form:
    sql, values = compiled(query)
    same = [one.index for one in values if type(one) is Placeholder] == list(range(count))
    return _Form(sql, None if same and len(values) == count else list(values))


def prepared(build: Build[P]) -> Callable[P, Statement]:
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


def writing(build: Build[P]) -> Run[P, int]:
    """Run an insert, update or delete; the number of rows affected."""
    return _running(build, Tx.change)


def reading_number(build: Build[P]) -> Run[P, int]:
    """Run a query that returns one number."""
    return _running(build, Tx.one_value)


def reading_optional_number(build: Build[P]) -> Run[P, int | None]:
    """`reading_number`; None if no row is found."""
    return _running(build, Tx.one_value)


def reading_ids(build: Build[P]) -> Run[P, list[UUID]]:
    """Run a query whose only column has ids; those of all rows."""
    return reading(lambda rows: [each for row in rows for each in row.values()])(build)


def reading_row(read: Callable[[Row], T]) -> Callable[[Build[P]], Run[P, T | None]]:
    """Run a query; what `read` makes of its first row, or None."""

    async def first(tx: Tx, statement: Statement) -> T | None:
        row = await tx.first(statement)
        return None if row is None else read(row)

    return lambda build: _running(build, first)


def reading_rows(read: Callable[[Row], T]) -> Callable[[Build[P]], Run[P, list[T]]]:
    """Run a query; what `read` makes of each of its rows."""
    return reading(lambda rows: [read(row) for row in rows])


def reading(read: Callable[[list[Row]], T]) -> Callable[[Build[P]], Run[P, T]]:
    """Run a query; what `read` makes of all its rows."""

    async def every(tx: Tx, statement: Statement) -> T:
        return read(await tx.run(statement))

    return lambda build: _running(build, every)


def _running(build: Build[P], run: Callable[[Tx, Statement], Awaitable[T]]) -> Run[P, T]:
    statement = prepared(build)

    @wraps(build)
    async def running(tx: Tx, /, *args: P.args, **fixed: P.kwargs) -> T:
        return await run(tx, statement(*args, **fixed))

    return running
