"""Combinations of tenants, and the states of matches that they were priced by.

A combination is inserted once; later only prices are added that were made again from fewer legs. It is
deleted with the first of its matches that is (`matches.trim`), and so are the states of a match.
"""

import zlib
from collections.abc import Collection, Iterable
from hashlib import blake2b
from typing import Any
from uuid import UUID

import msgspec
from piccolo.columns.combination import WhereRaw
from piccolo.query import Delete, Insert, Select
from piccolo.querystring import QueryString

from app.domain.combination import Combination, CombinationLeg, CombinedMatch, Price
from app.domain.market import Market, MarketKey
from app.domain.match import Match, Status
from app.domain.settlement import LedgerEntry
from app.kit.grouping import grouped
from app.store.prepared import prepared, reading_row, writing
from app.store.row_mapping import RowMapping, Stored
from app.store.sql import columns_of, not_exists
from app.store.statements import reads, writes
from app.store.tables.combination import Combination as CombinationTable
from app.store.tables.combination import PricedState as StateTable
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Tx

Place = tuple[int, UUID]  #: in a tenant's list: `created_at` and id
LegMarket = tuple[UUID, MarketKey]  #: a market of a match
_DIGEST_BYTES = 16
_LEVEL = 1  #: takes a third of the time of level 6, for a tenth more bytes


class PricedState(msgspec.Struct, frozen=True):
    """All that prices of a match's combinations follow from: the match, its active markets, and the time that
    its current round is seen at (Unix ms; 0 where time alone changes nothing)."""

    match: Match
    markets: tuple[Market, ...]
    now: int


class EncodedState(msgspec.Struct, frozen=True):
    """A state as it is stored, with its name: equal states have the same one."""

    match_id: UUID
    name: str
    body: bytes


_encode = msgspec.json.Encoder().encode
_state = msgspec.json.Decoder(PricedState).decode
_entry = msgspec.json.Decoder(LedgerEntry).decode
_prices = msgspec.json.Decoder(dict[str, Price]).decode


def _json(kind: Any) -> Stored:
    return Stored(_encode, msgspec.json.Decoder(kind).decode)


_ROWS = RowMapping(
    CombinationTable,
    Combination,
    stored={
        "legs": _json(tuple[CombinationLeg, ...]),
        "matches": _json(tuple[CombinedMatch, ...]),
        "remade": Stored(
            lambda prices: _encode(prices) if prices else None, lambda body: _prices(body or b"{}")
        ),
    },
    derived={"match_ids": lambda one: [each.match_id for each in one.matches]},
)
_PLACE = (CombinationTable.created_at, CombinationTable.id)


def encode_state(state: PricedState) -> EncodedState:
    """The state as it is stored."""
    text = _encode(state)
    name = blake2b(text, digest_size=_DIGEST_BYTES).hexdigest()
    return EncodedState(state.match.id, name, zlib.compress(text, _LEVEL))


async def add(tx: Tx, combination: Combination, states: Iterable[EncodedState]) -> bool:
    """Store a combination with the states that it was priced by; False, and nothing is stored, if the tenant
    has one with its `request_id`."""
    if not await tx.change(_ROWS.insert(combination, unless_known=True)):
        return False
    for state in states:
        await tx.change(_insert_state(state.match_id, bytes.fromhex(state.name), state.body))
    return True


@reading_row(_ROWS.read)
def get(tenant_id: UUID, combination_id: UUID, /, *, finished_only: bool) -> Select[Any]:
    """The tenant's combination with that id; with `finished_only` if all its matches are finished."""
    return _of_tenant(tenant_id, finished_only).where(CombinationTable.id == combination_id)


@reading_row(_ROWS.read)
def by_request(tenant_id: UUID, request_id: str, /) -> Select[Any]:
    """The tenant's combination with that id of its own."""
    return _of_tenant(tenant_id, False).where(CombinationTable.request_id == request_id)


async def page(
    tx: Tx, tenant_id: UUID, *, since: int, after: Place | None, limit: int, finished_only: bool
) -> list[Combination]:
    """At most `limit` combinations that the tenant had priced at `since` (Unix ms) or later, oldest first,
    those after the place `after`."""
    place = after or (since, UUID(int=0))
    query = _page(tenant_id, since, *place, limit=limit, finished_only=finished_only)
    return [_ROWS.read(row) for row in await tx.run(query)]


async def state(tx: Tx, match_id: UUID, name: str) -> PricedState | None:
    """The stored state with that name."""
    body = await tx.one_value(_state_body(match_id, bytes.fromhex(name)))
    return None if body is None else _state(zlib.decompress(body))


async def add_price(tx: Tx, combination_id: UUID, places: str, price: Price) -> None:
    """Store the price that was made again from the legs at these places (`domain.combination.places_name`);
    one that is there stays."""
    await tx.execute(writes.ADD_REMADE_PRICE, combination_id, _encode({places: price}).decode())


async def ledger_of(tx: Tx, markets: Collection[LegMarket]) -> dict[LegMarket, list[LedgerEntry]]:
    """The entries of these markets, in the ledger's order; markets without any are omitted."""
    columns = columns_of((match_id, *key) for match_id, key in markets)
    rows = await tx.fetch(reads.LEDGER_OF_MARKETS, *columns) if columns else []
    entries = [(row["match_id"], _entry(row["body"])) for row in rows]
    return grouped(((match_id, entry.key), entry) for match_id, entry in entries)


@writing
def delete_of(match_ids: Collection[UUID], /) -> Delete:
    """Delete the combinations that have a leg of one of these matches."""
    return CombinationTable.delete().where(
        WhereRaw("{} && {}::uuid[]", CombinationTable.match_ids, match_ids)
    )


def _of_tenant(tenant_id: UUID, finished_only: bool) -> Select[Any]:
    query = CombinationTable.select(*_ROWS.columns).where(CombinationTable.tenant_id == tenant_id)
    if not finished_only:
        return query
    mine = QueryString("{} = ANY ({})", MatchTable.id, CombinationTable.match_ids)
    others = MatchTable.select(MatchTable.id).where(
        WhereRaw("{}", mine), MatchTable.status != Status.FINISHED
    )
    return query.where(WhereRaw("{}", not_exists(others)))


@prepared
def _insert_state(match_id: UUID, digest: bytes, body: bytes) -> Insert[Any]:
    row = StateTable(match_id=match_id, digest=digest, body=body)
    return StateTable.insert(row).on_conflict(action="DO NOTHING")


@prepared
def _page(
    tenant_id: UUID, since: int, at: int, last: UUID, *, limit: int, finished_only: bool
) -> Select[Any]:
    later = QueryString("({}, {}) > ({}, {})", *_PLACE, at, last)
    query = _of_tenant(tenant_id, finished_only).where(
        CombinationTable.created_at >= since, WhereRaw("{}", later)
    )
    return query.order_by(*_PLACE).limit(limit)


@prepared
def _state_body(match_id: UUID, digest: bytes) -> Select[Any]:
    own = (StateTable.match_id == match_id, StateTable.digest == digest)
    return StateTable.select(StateTable.body).where(*own)
