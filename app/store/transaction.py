"""One unit of work on the database: the handle that is passed to every function of the store."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple, NoReturn, Self, TypeVar

import asyncpg
from piccolo.query.base import Query

from app.kit.errors import NotFound, Unavailable
from app.store.match_cache import LockedMatches

T = TypeVar("T")
_PARAMETER = re.compile(r"\$(\d+)")
Row = Mapping[str, Any]  #: a row by column name

#: Errors of a database that is down, busy or requires a retry.
AWAY = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.TransactionRollbackError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,
    # The driver's error when the server ended the session between two statements.
    asyncpg.InternalClientError,
)

#: The driver has one error for a lost connection and for misuse; these words identify a lost connection.
_LOST = ("closed", "closing", "released back")
_TRANSLATED = (*AWAY, asyncpg.InterfaceError)


class Statement(NamedTuple):
    """A query as PostgreSQL receives it: its text with `$1`, `$2`, …, and their values."""

    sql: str
    args: Sequence[Any]


Built = Statement | Query[Any, Any]  #: a query built with Piccolo, just now or once (`prepared`)


class Write(NamedTuple):
    """A statement that changes rows, with its arguments, to be run by `Tx.write`.

    With `missing` it must affect a row, and return it: otherwise `NotFound` is raised with this text.
    """

    sql: str
    args: Sequence[Any]
    missing: str = ""

    @classmethod
    def of(cls, query: Built, missing: str = "") -> Self:
        """A query that was built with Piccolo, to be run by `Tx.write`."""
        return cls(*_statement(query), missing)


class Tx:
    """Statements on one connection; a transaction around them unless it came from `Store.autocommit`.

    `run`, `first`, `one_value` and `change` run what Piccolo has built; `fetch`, `row`, `value` and `execute`
    the SQL of `statements`, with its arguments `$1`, `$2`, …. `json` values are bytes, `uuid` values `UUID`.
    `cache` is that of the store's matches, if it has one and this is a transaction that may write. `reached`
    is the highest seq of the change log that it has read or written, with its timestamp (ms). `history` is
    the mark of the history of the database that it sees (`store.timeline`), 0 without a guard.
    """

    __slots__ = ("cache", "connection", "history", "reached")

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.cache: LockedMatches | None = None
        self.history = 0
        self.reached = (0, 0)

    async def run(self, query: Built) -> list[Row]:
        """Run a query; its rows."""
        sql, args = _statement(query)
        return await self.fetch(sql, *args)

    async def first(self, query: Built) -> Row | None:
        """The first row of a query, or None."""
        sql, args = _statement(query)
        return await self.row(sql, *args)

    async def one_value(self, query: Built) -> Any:
        """The first column of a query's first row, or None."""
        sql, args = _statement(query)
        return await self.value(sql, *args)

    async def change(self, query: Built) -> int:
        """Run an insert, update or delete; the number of rows affected."""
        sql, args = _statement(query)
        return await self.execute(sql, *args)

    async def fetch(self, sql: str, *args: Any) -> list[Row]:
        rows: list[Row] = await call_translated(self.connection.fetch, sql, *args)
        return rows

    async def row(self, sql: str, *args: Any) -> Row | None:
        """The first row, or None."""
        row: Row | None = await call_translated(self.connection.fetchrow, sql, *args)
        return row

    async def value(self, sql: str, *args: Any) -> Any:
        """The first column of the first row, or None."""
        return await call_translated(self.connection.fetchval, sql, *args)

    async def execute(self, sql: str, *args: Any) -> int:
        """Run a statement; the number of rows affected (0 when it does not count rows)."""
        tag: str = await call_translated(self.connection.execute, sql, *args)
        count = tag.rsplit(" ", 1)[-1]
        return int(count) if count.isdigit() else 0

    async def write(self, writes: Sequence[Write]) -> None:
        """Run statements that change rows in one round trip.

        They are combined into one statement: none sees the others' changes, and no two may affect the same
        row. Raises `NotFound` when one with `missing` affects no row.
        """
        if not writes:
            return
        sql = _combined(tuple((write.sql, len(write.args), bool(write.missing)) for write in writes))
        found = await self.row(sql, *(argument for write in writes for argument in write.args))
        needed = [write.missing for write in writes if write.missing]
        for missing, there in zip(needed, (found or {}).values(), strict=True):
            if not there:
                raise NotFound(missing)


def compiled(query: Query[Any, Any]) -> Statement:
    """The statement of a query built with Piccolo."""
    (querystring,) = query.querystrings
    return Statement(*querystring.compile_string())


def _statement(query: Built) -> Statement:
    return query if isinstance(query, Statement) else compiled(query)


@lru_cache(maxsize=256)
def _combined(statements: Sequence[tuple[str, int, bool]]) -> str:
    """One statement of several, each with its number of parameters, which are renumbered. It returns for each
    that is marked, in order, whether it affected a row."""
    before = accumulate((count for _, count, _ in statements), initial=0)
    parts = [_renumbered(sql, shift) for (sql, _, _), shift in zip(statements, before, strict=False)]
    checked = [at for at, (_, _, marked) in enumerate(statements) if marked]
    columns = ", ".join(f"EXISTS (SELECT FROM part{at}) AS found{at}" for at in checked)
    return f"WITH {', '.join(f'part{at} AS ({part})' for at, part in enumerate(parts))} SELECT {columns}"


def _renumbered(sql: str, shift: int) -> str:
    return _PARAMETER.sub(lambda found: f"${int(found[1]) + shift}", sql)


@asynccontextmanager
async def translate_errors() -> AsyncIterator[None]:
    """Raise `Unavailable` when the database is down, busy or requires a retry; other errors are unchanged."""
    try:
        yield
    except _TRANSLATED as error:
        _raise_translated(error)


async def call_translated(work: Callable[..., Awaitable[T]], *args: Any, **options: Any) -> T:
    """The result of `work` on the database, its errors translated as by `translate_errors`: without a context
    manager, since every statement comes here."""
    try:
        return await work(*args, **options)
    except _TRANSLATED as error:
        _raise_translated(error)


def _raise_translated(error: Exception) -> NoReturn:
    if isinstance(error, asyncpg.InterfaceError) and not any(word in str(error) for word in _LOST):
        raise error
    what = f"The database cannot be used now ({type(error).__name__}); try again."
    raise Unavailable(what, retry_after=1) from error
