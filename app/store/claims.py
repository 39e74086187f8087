"""Claims of tenants, and which of them somebody must still decide."""

from typing import Any
from uuid import UUID

import msgspec
from piccolo.columns.combination import WhereRaw
from piccolo.query import Select
from piccolo.querystring import QueryString

from app.domain.claims import UNDECIDED, Claim, ClaimState
from app.domain.match import Status
from app.store.prepared import prepared, reading_row, reading_rows
from app.store.row_mapping import RowMapping
from app.store.sql import NEWEST, exists, literals
from app.store.tables.claim import Claim as ClaimTable
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Tx

Place = tuple[int, UUID]  #: in a list: `opened_at` and id
_ROWS = RowMapping(ClaimTable, Claim)
_PLACE = (ClaimTable.opened_at, ClaimTable.id)
_UNDECIDED = ClaimTable.state.is_in(literals(UNDECIDED))


class ClaimFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which claims: of a tenant, about a match, in a state, which somebody must still decide; None: any. With
    `finished_only` those about finished matches."""

    tenant_id: UUID | None = None
    match_id: UUID | None = None
    state: ClaimState | None = None
    undecided: bool | None = None
    finished_only: bool = False


async def add(tx: Tx, claim: Claim) -> None:
    """Store a new claim."""
    await tx.change(_ROWS.insert(claim))


async def save(tx: Tx, claim: Claim) -> None:
    """Write what may change of a claim."""
    await tx.change(_ROWS.update(claim))


@reading_row(_ROWS.read)
def get(claim_id: UUID, /) -> Select[Any]:
    """The claim with that id."""
    return ClaimTable.select(*_ROWS.columns).where(ClaimTable.id == claim_id)


@reading_row(_ROWS.read)
def lock(claim_id: UUID, /) -> Select[Any]:
    """`get`; the claim is locked until the transaction ends. The match must have been locked before."""
    return ClaimTable.select(*_ROWS.columns).where(ClaimTable.id == claim_id).lock_rows("UPDATE")


@reading_row(_ROWS.read)
def by_request(tenant_id: UUID, request_id: str, /) -> Select[Any]:
    """The tenant's claim with that id of its own."""
    own = (ClaimTable.tenant_id == tenant_id, ClaimTable.request_id == request_id)
    return ClaimTable.select(*_ROWS.columns).where(*own)


@reading_rows(_ROWS.read)
def counting_of(tenant_id: UUID, now: int, /) -> Select[Any]:
    """The tenant's claims that count towards its limit at `now` (Unix ms), oldest first: those that somebody
    must still decide, and those withdrawn whose deadline is still to come."""
    withdrawn = (ClaimTable.state == ClaimState.WITHDRAWN) & (ClaimTable.deadline_at > now)
    query = ClaimTable.select(*_ROWS.columns).where(ClaimTable.tenant_id == tenant_id)
    return query.where(_UNDECIDED | withdrawn).order_by(*_PLACE)


@reading_rows(_ROWS.read)
def lock_undecided() -> Select[Any]:
    """The claims of all tenants that somebody must still decide; nobody decides them until the transaction
    ends."""
    return ClaimTable.select(*_ROWS.columns).where(_UNDECIDED).order_by(*_PLACE).lock_rows("SHARE")


async def page(tx: Tx, wanted: ClaimFilter, *, before: Place = NEWEST, limit: int) -> list[Claim]:
    """At most `limit` claims, newest first, those behind the place `before`."""
    given = {name: getattr(wanted, name) for name in FILTERS}
    given = {name: value for name, value in given.items() if value is not None}
    query = _page(
        *before,
        *given.values(),
        claim_filters=tuple(given),
        undecided=wanted.undecided,
        finished_only=wanted.finished_only,
        limit=limit,
    )
    return [_ROWS.read(row) for row in await tx.run(query)]


#: The fields of `ClaimFilter` that are compared with a column.
FILTERS = {
    "tenant_id": ClaimTable.tenant_id,
    "match_id": ClaimTable.match_id,
    "state": ClaimTable.state,
}


@prepared
def _page(
    at: int,
    last: UUID,
    *values: object,
    claim_filters: tuple[str, ...],
    undecided: bool | None,
    finished_only: bool,
    limit: int,
) -> Select[Any]:
    earlier = QueryString("({}, {}) < ({}, {})", *_PLACE, at, last)
    query = ClaimTable.select(*_ROWS.columns).where(WhereRaw("{}", earlier))
    for name, value in zip(claim_filters, values, strict=True):
        query = query.where(FILTERS[name] == value)
    if undecided is not None:
        others = ClaimTable.state.not_in(literals(UNDECIDED))
        query = query.where(_UNDECIDED if undecided else others)
    if finished_only:
        finished = MatchTable.select(MatchTable.id).where(
            MatchTable.id == ClaimTable.match_id, MatchTable.status == Status.FINISHED
        )
        query = query.where(WhereRaw("{}", exists(finished)))
    return query.order_by(*_PLACE, ascending=False).limit(limit)
