"""Searches in the change log: the envelopes that were published to a tenant while it had booked their match,
newest first.

The log reaches back to where it was pruned (`store.changes`). A page is made from a bounded number of
rows, whatever is searched for, so that a search costs the same however long the log is.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from piccolo.columns.combination import WhereRaw
from piccolo.query import Count, Select

from app.domain.tenant import Tenant
from app.store.changes import ChangeRow, tenant_market_key
from app.store.prepared import prepared, reading_optional_number
from app.store.sql import TO_ONE_TENANT, booked_then, interval_columns
from app.store.statements import envelopes as statements
from app.store.tables.change import Change
from app.store.transaction import Tx

LAST = 2**63 - 1  #: the highest seq and the latest moment
SCANNED = 20_000  #: rows of the log that a page is made from, at most
#: Timestamps that are so much apart (ms) are in the order of their seqs.
_DISORDER_MILLIS = 60_000
_NEVER_OFF: list[list[object]] = [[], [], [], []]  #: `interval_columns` of a tenant without intervals


#: Rows that are published: to all, or to the tenant alone that their keys begin with.
_TO_TENANT = f"({{}} <> '' OR ({{}} IN {TO_ONE_TENANT} AND starts_with({{}}, {{}}::text)))"


class EnvelopeSearch(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for; each criterion that is None admits everything. `name` is the message's
    (`odds_change`), `type_id` a market type that the envelope lists; `first` and `last` (Unix ms) bound its
    timestamp, both included."""

    match_id: UUID | None = None
    name: str | None = None
    type_id: int | None = None
    first: int | None = None
    last: int | None = None


class EnvelopeOutline(msgspec.Struct, frozen=True):
    """An envelope in a list: its number, its match, the message's name, its timestamp (ms)."""

    seq: int
    match_id: UUID
    number: int
    name: str
    at: int
    home: str | None
    away: str | None


class EnvelopePage(msgspec.Struct, frozen=True):
    """A page of envelopes, newest first; `before` is where the next page begins, None when the log has been
    searched to its beginning. A page may be short, and even empty, while there is a next one."""

    rows: Sequence[EnvelopeOutline]
    before: int | None


class Neighbours(msgspec.Struct, frozen=True):
    """The envelopes of the same match around one, where the log has them."""

    previous: int | None
    next: int | None


async def page(
    tx: Tx, tenant: Tenant, search: EnvelopeSearch, before: int = LAST, *, limit: int, scanned: int = SCANNED
) -> EnvelopePage:
    """At most `limit` envelopes with a lower seq than `before` of matches that the tenant had booked then,
    named as they are published to it."""
    first, last = search.first or 0, LAST if search.last is None else search.last
    floor = await position(tx, first - _DISORDER_MILLIS) if search.first is not None else 0
    if search.last is not None:
        before = min(before, await position(tx, last + _DISORDER_MILLIS))
    type_key = "" if search.type_id is None else f"{search.type_id}:"
    off = interval_columns(tenant.types_off) or _NEVER_OFF
    values = (tenant.id, before, floor, scanned, search.name or "", type_key, first, last, limit + 1, *off)
    if search.match_id is None:
        found = await tx.fetch(statements.PAGE, *values)
    else:
        found = await tx.fetch(statements.PAGE_OF_MATCH, *values, search.match_id)
    columns = EnvelopeOutline.__struct_fields__
    rows = [EnvelopeOutline(**{name: row[name] for name in columns}) for row in found if row["seq"]]
    if len(rows) > limit:
        return EnvelopePage(rows[:limit], rows[limit - 1].seq)
    return EnvelopePage(rows, found[0]["next"] or None)


async def rows(tx: Tx, tenant_id: UUID, seq: int) -> list[ChangeRow]:
    """The rows of one envelope, in order; none if the log has no envelope of that number, or the tenant had
    not booked its match then."""
    return [ChangeRow(**row) for row in await tx.fetch(statements.ROWS, seq, tenant_id)]


async def neighbours(tx: Tx, tenant_id: UUID, found: Sequence[ChangeRow]) -> Neighbours:
    """The tenant's envelopes of the match before and after the one of these rows."""
    match_id = found[0].match_id
    own = (match_id, tenant_id, tenant_market_key(tenant_id, ""))
    previous = await tx.one_value(_neighbour(*own, 0, found[0].seq, newest_first=True))
    following = await tx.one_value(_neighbour(*own, found[-1].seq, LAST, newest_first=False))
    return Neighbours(previous, following)


async def has_any(tx: Tx, tenant_id: UUID, match_id: UUID) -> bool:
    """Whether the log has an envelope of the match for the tenant."""
    own = (match_id, tenant_id, tenant_market_key(tenant_id, ""))
    return await tx.one_value(_neighbour(*own, 0, LAST, newest_first=True)) is not None


@reading_optional_number
def oldest_at() -> Select[Any]:
    """The timestamp (ms) of the oldest envelope in the log; None while it has none."""
    return Change.select(Change.at).where(Change.message != "").order_by(Change.seq).limit(1)


async def position(tx: Tx, at: int) -> int:
    """The seq at which the envelopes from `at` (ms) on begin, exact to a few seconds."""
    seq: int = await tx.value(statements.POSITION, at)
    return seq


async def count_since(tx: Tx, tenant_id: UUID, at: int) -> int:
    """How many envelopes of matches that the tenant had booked then have a timestamp from `at` (ms) on; for a
    few minutes at most, since it counts rows."""
    count: int = await tx.one_value(_count(tenant_id, await position(tx, at - _DISORDER_MILLIS), at))
    return count


@prepared
def _count(tenant_id: UUID, first: int, at: int) -> Count:
    # Without a second bound and statistics, PostgreSQL expects a third of the log, and reads all of it.
    within = (Change.seq >= first, Change.seq < LAST)
    query = Change.count().where(*within, Change.seq == Change.envelope_seq, Change.at >= at)
    return query.where(Change.message != "", booked_then(tenant_id, Change.match_id, Change.envelope_seq))


@prepared
def _neighbour(
    match_id: UUID, tenant_id: UUID, key: str, after: int, before: int, *, newest_first: bool
) -> Select[Any]:
    to_tenant = WhereRaw(_TO_TENANT, Change.message, Change.entity, Change.key, key)
    query = Change.select(Change.envelope_seq).where(Change.match_id == match_id, to_tenant)
    query = query.where(booked_then(tenant_id, Change.match_id, Change.envelope_seq))
    query = query.where(Change.seq > after, Change.seq < before)
    return query.order_by(Change.seq, ascending=not newest_first).limit(1)
