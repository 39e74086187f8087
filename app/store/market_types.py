"""Switches of market types in the change log: what a tenant learns of one, as rows for that tenant alone.

A switch is a row of no match (`SWITCH`), whose seq is its place, and after it for each match a group of rows
(`TENANT_MARKET`), one for each market that the tenant sees differently from now on. Their keys begin with the
tenant's id. They have neither a frame nor a message, so that nobody else publishes them, and they are in no
match's `prev_seq`.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select

from app.domain.market import Market, market_name
from app.store import changes
from app.store.changes import ChangeRow
from app.store.prepared import prepared
from app.store.sql import any_of
from app.store.statements import market_types as statements
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Tx

SWITCH, TENANT_MARKET = "market_type", "tenant_market"  #: the rows' `entity`
NO_MATCH = UUID(int=0)  #: `match_id` of a switch
_encode = msgspec.json.Encoder().encode


decode_tenant_market = msgspec.json.Decoder(Market).decode  #: the market as the tenant sees it, of a body


def tenant_of(row: ChangeRow) -> UUID | None:
    """The only tenant that learns of this change; None: it is no row of a switch."""
    return UUID(row.key.partition(" ")[0]) if row.entity in (SWITCH, TENANT_MARKET) else None


def tenant_market_key(tenant_id: UUID, name: str) -> str:
    """The key of a row `TENANT_MARKET` about the market called `name`."""
    return f"{tenant_id} {name}"


async def take_place(tx: Tx) -> int:
    """The seq of a switch. Until the transaction ends nobody else writes to the change log, and what is read
    now is the state at that seq. A transaction that locks matches must have locked them before."""
    await tx.execute(statements.LOCK_LOG)
    seq: int = await tx.value(statements.TAKE_NUMBER)
    return seq


async def newest_opened(tx: Tx, type_ids: Collection[int], now: int) -> dict[int, int]:
    """For each of these types when its newest market was first opened (Unix ms); types without a market in
    matches that are not over, or have just ended, are omitted."""
    rows = await tx.fetch(statements.NEWEST_OPENED, list(type_ids), now)
    return {row["type_id"]: row["at"] for row in rows}


async def append(
    tx: Tx, seq: int, tenant_id: UUID, changed: Mapping[UUID, Sequence[Market]], now: int
) -> None:
    """Write the switch `seq` of a tenant, and the markets that it changes for it, by match. They have the
    match's last timestamp. Must be the transaction's last statement, as every other writer waits for it."""
    rows: list[tuple[Any, ...]] = [(seq, NO_MATCH, 0, SWITCH, str(tenant_id), now, seq, 0, b"{}")]
    numbers = count(seq + 1)
    for match in await tx.run(_positions(list(changed))):
        group = [(next(numbers), market) for market in changed[match["id"]]]
        rows += [
            (
                *(own, match["id"], match["number"], TENANT_MARKET),
                tenant_market_key(tenant_id, market_name(*market.key)),
                *(match["last_stamp"], group[-1][0], match["last_seq"]),
                _encode(market),
            )
            for own, market in group
        ]
    columns = (list(column) for column in zip(*rows, strict=True))
    await tx.row(statements.APPEND_FOR_TENANT, *columns, rows[-1][0], changes.CHANNEL)
    tx.reached = rows[-1][0], now


@prepared
def _positions(match_ids: Collection[UUID]) -> Select[Any]:
    query = MatchTable.select(MatchTable.id, MatchTable.number, MatchTable.last_stamp, MatchTable.last_seq)
    return query.where(any_of(MatchTable.id, match_ids)).order_by(MatchTable.number)
