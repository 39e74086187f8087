"""Expressions that Piccolo lacks or that several modules share."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from piccolo.columns import Column
from piccolo.columns.combination import Where, WhereRaw
from piccolo.columns.operators.comparison import ComparisonOperator
from piccolo.query import Select
from piccolo.querystring import QueryString

from app.domain.market import CLOSED, OPEN
from app.domain.types_off import Intervals
from app.store.tables.dialect import Json
from app.store.tables.match import Match
from app.store.tables.tenant import Unbooked

NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"  #: the database's clock, Unix ms
#: The codes of open markets; a literal, not a parameter, so that the planner uses the partial index of open
#: markets.
OPEN_MARKETS = f"({', '.join(str(int(code)) for code in OPEN)})"
OPEN_CODES = QueryString(", ".join(str(int(code)) for code in OPEN))
CLOSED_CODES = QueryString(", ".join(str(int(code)) for code in CLOSED))


class _AnyOf(ComparisonOperator):
    template = "{name} = ANY ({value})"


#: Above every moment (Unix ms) and id: the start of a list that is newest first.
NEWEST = 2**63 - 1, UUID(int=2**128 - 1)
#: Entities of the rows that are published to one tenant alone; and of those that the stream omits where they
#: have no frame. As in `store.changes`.
TO_ONE_TENANT = "('tenant_market', 'feed_market')"
WITHOUT_FRAME = "('match', 'bet_stop', 'market_type', 'tenant_market', 'booking', 'feed_market', 'claim')"
NO_SLOT = 0  #: the token of recovery jobs without a slot; slots count from 1
_LOSS_MILLIS = 300_000  #: for so long after its last loss a tenant counts as losing messages
#: Whether the tenant of a cursor is losing messages.
LOSING = f"(tenant_cursor.notice_pending OR tenant_cursor.dropped_at > {NOW} - {_LOSS_MILLIS})"


#: Whether a market was offered to a tenant, by the columns of its intervals (`interval_columns`), and the
#: market's type, a place in the change log and when the market was first opened; as `domain.types_off`.
OFFERED = """
    NOT EXISTS (
        SELECT FROM unnest({}::int[], {}::bigint[], {}::bigint[], {}::bigint[])
                AS off (type_id, off_at, off_seq, on_seq),
            (SELECT {} AS type_id, {} AS seq, {} AS opened_at) AS own
        WHERE off.type_id = own.type_id AND off.off_seq < own.seq
            AND (off.on_seq IS NULL OR own.seq < off.on_seq) AND off.off_at < own.opened_at
    )
    """
#: Whether an envelope was published to a tenant as far as its bookings go, by the tenant's id, the match and
#: the envelope's seq, twice in turn; as `tenants.booking_gaps`. Two conditions, so that the planner joins
#: each table once, whatever number of envelopes is examined.
BOOKED_THEN = """
    NOT EXISTS (SELECT FROM unbooked u WHERE u.tenant_id = {} AND u.match_id = {} AND u.seq < {})
    AND NOT EXISTS (
        SELECT FROM booking_gap g
        WHERE g.tenant_id = {} AND g.match_id = {} AND {} > g.after_seq AND g.until_seq >= {}
    )
    """
_OPENED = "coalesce(({}->>'first_opened_at')::bigint, 0)"


class _Holds(ComparisonOperator):
    template = "{name}"


class _Fails(ComparisonOperator):
    template = "NOT {name}"


def now() -> QueryString:
    """`NOW` in a query that Piccolo builds."""
    return QueryString(NOW)


def any_of(column: Column, values: Collection[Any]) -> Where:
    """Whether the column has one of the values: one parameter and one text, however many there are."""
    return Where(column, values, operator=_AnyOf)


def literals(words: Collection[str]) -> QueryString:
    """Words of our own as SQL, for `is_in`: the planner then uses the partial index on them."""
    return QueryString(", ".join(f"'{word}'" for word in words))


def same(column: Column, value: object) -> QueryString:
    """Whether the column has the value, where NULL is like any other."""
    return QueryString("{} IS NOT DISTINCT FROM {}", column, value)


def holds(column: Column) -> Where:
    """A boolean column is true. No parameter, so that the planner uses a partial index on it."""
    return Where(column, operator=_Holds)


def fails(column: Column) -> Where:
    """A boolean column is false; as `holds`."""
    return Where(column, operator=_Fails)


def exists(query: Select[Any]) -> QueryString:
    """Whether the query has a row; it may name columns of the query around it."""
    return QueryString("EXISTS ({})", query.querystrings[0])


def not_exists(query: Select[Any]) -> QueryString:
    """Whether the query has no row."""
    return QueryString("NOT {}", exists(query))


def columns_of(rows: Iterable[Iterable[object]]) -> list[list[object]]:
    """The rows as arrays, one for each column, for a statement that makes rows of them again (`unnest`); none
    without rows."""
    return [list(column) for column in zip(*rows, strict=True)]


def interval_columns(intervals: Intervals) -> list[list[object]]:
    """The parameters of `offered`; none without intervals, when everything was offered."""
    return columns_of((one.type_id, one.off_at, one.off_seq, one.on_seq) for one in intervals)


def offered(
    off: Collection[object], type_id: Column | QueryString, place: Column | QueryString, opened: Column
) -> WhereRaw:
    """Whether the market of a row was offered to the tenant with these `interval_columns`, at the row's
    `place` in the change log. `opened` is when it was first opened, or a body that says so."""
    first = QueryString(_OPENED, opened) if isinstance(opened, Json) else opened
    return WhereRaw(OFFERED, *off, type_id, place, first)


def booked_then(tenant_id: UUID, match: Column, place: Column) -> WhereRaw:
    """Whether the tenant had booked the match at this place in the change log."""
    own = (tenant_id, match, place)
    return WhereRaw(BOOKED_THEN, *own, *own, place)


def booked(tenant: object) -> QueryString:
    """Whether the tenant has booked the row of `Match`."""
    unbooked = Unbooked.select(Unbooked.match_id)
    return not_exists(unbooked.where(Unbooked.tenant_id == tenant, Unbooked.match_id == Match.id))


def booked_by(tenant: str) -> str:
    """`booked` in SQL, of a match called `m`; `tenant` is a parameter (`$1`)."""
    return f"NOT EXISTS (SELECT FROM unbooked u WHERE u.tenant_id = {tenant} AND u.match_id = m.id)"
