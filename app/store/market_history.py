"""The history of markets in the change log: their prices, suspensions, settlements, voids and rollbacks.

It reaches back to where the log was pruned (`store.changes`). An index on markets would double what the log
writes for each change, so the rows of the match's other markets are passed over; where machines ask, no more
than `SCANNED` rows are read at a time.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from piccolo.query import Select

from app.domain.market import Market, MarketKey, market_name
from app.domain.market_changes import MarketChange, received
from app.domain.match import Match
from app.domain.settlement import LedgerEntry
from app.domain.tenant import Tenant
from app.store import changes, tenants
from app.store.changes import TENANT_MARKET, tenant_market_key
from app.store.prepared import prepared, reading_optional_number
from app.store.sql import any_of, literals
from app.store.statements import market_history as statements
from app.store.tables.change import Change
from app.store.transaction import Row, Tx

_market = msgspec.json.Decoder(Market).decode
_entry = msgspec.json.Decoder(LedgerEntry).decode
_COLUMNS = ("seq", "at", "entity", "frame", "body")
_LAST = 2**63 - 1  #: the highest seq
_OF_MARKET = ("market", "settlement", TENANT_MARKET)
SCANNED = 5_000  #: rows of a match that a page is made from, at most


class NewestChanges(NamedTuple):
    """Changes of a market, newest first; `older`: there are older ones below this seq (None: there are
    none)."""

    changes: Sequence[MarketChange]
    older: int | None


class NextChanges(NamedTuple):
    """Changes of markets of a match, oldest first: all up to the seq `reached`. `more`: there may be newer
    ones already. A page may be short, and even empty, while there is a next one."""

    changes: Sequence[MarketChange]
    reached: int
    more: bool


async def newest(
    tx: Tx, tenant: Tenant | None, match_id: UUID, key: MarketKey, *, before: int = _LAST, limit: int
) -> NewestChanges:
    """The newest `limit` changes of a market with a seq below `before`, without those that the tenant did not
    receive; with None every change, as it is, for operators."""
    name = market_name(*key)
    names = [name, tenant_market_key(tenant.id, name)] if tenant else [name]
    found = await tx.run(_newest(match_id, names, before, limit=limit + 1))
    shown = found[:limit]
    return NewestChanges(await _seen(tx, shown, tenant), shown[-1]["seq"] if len(found) > limit else None)


async def following(
    tx: Tx,
    tenant: Tenant,
    match_id: UUID,
    wanted: MarketKey | int | None,
    *,
    after: int,
    limit: int,
) -> NextChanges:
    """The next `limit` changes with a higher seq than `after` of a market, of all markets of a type, or of
    all (None), without those that the tenant did not receive. Must be read in a snapshot."""
    bounds = match_id, after, SCANNED, limit + 1
    if isinstance(wanted, tuple):
        name = market_name(*wanted)
        found = await tx.fetch(statements.OF_MARKET, *bounds, name, tenant_market_key(tenant.id, name))
    else:
        name = "" if wanted is None else f"{wanted}:"
        found = await tx.fetch(statements.OF_MARKETS, *bounds, name, tenant_market_key(tenant.id, name))
    shown = await _seen(tx, found[:limit], tenant)
    if len(found) > limit:
        return NextChanges(shown, found[limit - 1]["seq"], True)
    cut: int | None = await tx.value(statements.LAST_SCANNED, match_id, after, SCANNED)
    return NextChanges(shown, max(after, await changes.head(tx)) if cut is None else cut, cut is not None)


async def complete_from(tx: Tx, match: Match) -> int:
    """The log has every change of the match with this seq or a higher one; 0: it has all that there ever
    were."""
    first = await tx.one_value(_prev_seq_of_first(match.id))
    begins = match.last_seq == 0 if first is None else first == 0
    return 0 if begins else await changes.oldest(tx)


@reading_optional_number
def begins_at() -> Select[Any]:
    """The timestamp of the oldest change in the log (Unix ms); None while it is empty."""
    return Change.select(Change.at).order_by(Change.seq).limit(1)


async def _seen(tx: Tx, rows: Sequence[Row], tenant: Tenant | None) -> list[MarketChange]:
    """What the tenant is offered is read with the changes: `tenant` may be older than these."""
    found = [market_change(**{name: row[name] for name in _COLUMNS}) for row in rows]
    if tenant is None:
        return found
    offer = await tenants.offer_of(tx, tenant.id)
    return [seen for each in found if (seen := received(each, offer))]


def market_change(seq: int, at: int, entity: str, frame: str, body: bytes) -> MarketChange:
    """What a row of the change log about a market says."""
    decode = _entry if entity == "settlement" else _market
    return MarketChange(seq, at, decode(body), frame, entity == TENANT_MARKET)


@prepared
def _newest(match_id: UUID, names: Collection[str], before: int, *, limit: int) -> Select[Any]:
    query = Change.select(Change.seq, Change.at, Change.entity, Change.frame, Change.body)
    of_market = (any_of(Change.key, names), Change.entity.is_in(literals(_OF_MARKET)))
    query = query.where(Change.match_id == match_id, *of_market, Change.seq < before)
    return query.order_by(Change.seq, ascending=False).limit(limit)


@prepared
def _prev_seq_of_first(match_id: UUID) -> Select[Any]:
    """Of the match's oldest row: 0 if no envelope came before it."""
    return Change.select(Change.prev_seq).where(Change.match_id == match_id).order_by(Change.seq).limit(1)
