"""Rows of the change log for one tenant alone: what it learns when a market type is switched for it, when it
gives a match back, and when it books one again.

    what happens for the tenant          its place (of no match)     the markets that it sees differently then
    a market type is switched            `SWITCH`                    `TENANT_MARKET`, on every channel
    a match is given back, or booked     `BOOKING`                   `FEED_MARKET`, on the AMQP feed only

The seq of the first row is the place. After it follows for each match a group of rows, one for each market.
Their keys begin with the tenant's id. They have neither a frame nor a message, so that nobody else publishes
them, and they are in no match's `prev_seq`.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from piccolo.query import Select

from app.domain.market import Market, market_name
from app.store import changes
from app.store.changes import ChangeRow
from app.store.prepared import prepared
from app.store.sql import any_of
from app.store.statements import change_log
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Tx

SWITCH, TENANT_MARKET = "market_type", "tenant_market"  #: the rows' `entity`, for a switch of market types
BOOKING, FEED_MARKET = "booking", "feed_market"  #: the same for a booking
PUBLISHED = frozenset({TENANT_MARKET, FEED_MARKET})  #: rows that are published to their tenant over AMQP
NO_MATCH = UUID(int=0)  #: `match_id` of a place
_OF_ONE_TENANT = frozenset({SWITCH, BOOKING}) | PUBLISHED
_encode = msgspec.json.Encoder().encode


class Place(NamedTuple):
    """Where in the change log something happens for a tenant: `entity` is `SWITCH` or `BOOKING`."""

    seq: int
    entity: str


decode_tenant_market = msgspec.json.Decoder(Market).decode  #: the market as the tenant sees it, of a body


def tenant_of(row: ChangeRow) -> UUID | None:
    """The only tenant that learns of this change; None: it is for all."""
    return UUID(row.key.partition(" ")[0]) if row.entity in _OF_ONE_TENANT else None


def tenant_market_key(tenant_id: UUID, name: str) -> str:
    """The key of a tenant's own row about the market called `name`."""
    return f"{tenant_id} {name}"


async def take_place(tx: Tx) -> int:
    """The seq of a place. Until the transaction ends nobody else writes to the change log, and what is read
    now is the state at that seq. A transaction that locks matches must have locked them before."""
    await tx.execute(change_log.LOCK_LOG)
    seq: int = await tx.value(change_log.TAKE_NUMBER)
    return seq


async def append(
    tx: Tx, place: Place, tenant_id: UUID, changed: Mapping[UUID, Sequence[Market]], now: int
) -> None:
    """Write what happens for a tenant at `place`, and the markets that it sees differently then, by match.
    They have the match's last timestamp. Must be the transaction's last statement, as every other writer
    waits for it."""
    market = TENANT_MARKET if place.entity == SWITCH else FEED_MARKET
    rows: list[tuple[Any, ...]] = [
        (place.seq, NO_MATCH, 0, place.entity, str(tenant_id), now, place.seq, 0, b"{}")
    ]
    numbers = count(place.seq + 1)
    for match in await tx.run(_positions(list(changed))):
        group = [(next(numbers), one) for one in changed[match["id"]]]
        rows += [
            (
                *(own, match["id"], match["number"], market),
                tenant_market_key(tenant_id, market_name(*one.key)),
                *(match["last_stamp"], group[-1][0], match["last_seq"]),
                _encode(one),
            )
            for own, one in group
        ]
    columns = (list(column) for column in zip(*rows, strict=True))
    await tx.row(change_log.APPEND_FOR_TENANT, *columns, rows[-1][0], changes.CHANNEL)
    tx.reached = rows[-1][0], now


@prepared
def _positions(match_ids: Collection[UUID]) -> Select[Any]:
    query = MatchTable.select(MatchTable.id, MatchTable.number, MatchTable.last_stamp, MatchTable.last_seq)
    return query.where(any_of(MatchTable.id, match_ids)).order_by(MatchTable.number)
