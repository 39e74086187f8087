"""Functions of the store that run one prepared query: the function that builds it is all that is written.

Its positional-only parameters are the statement's; what the text depends on is keyword-only (`prepared`).
"""

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import UUID

from piccolo.query.base import Query

from app.store.prepared import Statement, prepared
from app.store.transaction import Row, Tx

P = ParamSpec("P")
T = TypeVar("T")
Build = Callable[P, Query[Any, Any]]
Run = Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]]


def writing(build: Build[P]) -> Run[P, int]:
    """Run an insert, update or delete; the number of rows affected."""
    return _running(build, Tx.change)


def reading_number(build: Build[P]) -> Run[P, int]:
    """Run a query that has one number."""
    return _running(build, Tx.one_value)


def reading_optional_number(build: Build[P]) -> Run[P, int | None]:
    """`reading_number`; None if no row is found."""
    return _running(build, Tx.one_value)


def reading_ids(build: Build[P]) -> Run[P, list[UUID]]:
    """Run a query whose only column has ids; those of all rows."""

    async def ids(tx: Tx, statement: Statement) -> list[UUID]:
        return [each for row in await tx.run(statement) for each in row.values()]

    return _running(build, ids)


def reading_row(read: Callable[[Row], T]) -> Callable[[Build[P]], Run[P, T | None]]:
    """Run a query; what `read` makes of its first row, or None."""

    async def first(tx: Tx, statement: Statement) -> T | None:
        row = await tx.first(statement)
        return None if row is None else read(row)

    return lambda build: _running(build, first)


def reading_rows(read: Callable[[Row], T]) -> Callable[[Build[P]], Run[P, list[T]]]:
    """Run a query; what `read` makes of each of its rows."""

    async def every(tx: Tx, statement: Statement) -> list[T]:
        return [read(row) for row in await tx.run(statement)]

    return lambda build: _running(build, every)


def _running(build: Build[P], run: Callable[[Tx, Statement], Awaitable[T]]) -> Run[P, T]:
    statement = prepared(build)

    @wraps(build)
    async def running(tx: Tx, /, *args: P.args, **fixed: P.kwargs) -> T:
        return await run(tx, statement(*args, **fixed))

    return running
