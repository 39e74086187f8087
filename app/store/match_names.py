"""The names of matches, for lists that show something else of them."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select

from app.store.prepared import prepared
from app.store.sql import any_of
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Tx


class MatchName(msgspec.Struct, frozen=True):
    """A match as a heading shows it."""

    number: int
    home: str
    away: str


async def by_numbers(tx: Tx, numbers: Collection[int]) -> dict[int, MatchName]:
    """The names of those of these matches that exist, by number."""
    if not numbers:
        return {}
    return {row["number"]: MatchName(**row) for row in await tx.run(_by_numbers(list(numbers)))}


async def by_ids(tx: Tx, ids: Collection[UUID]) -> dict[UUID, MatchName]:
    """The names of those of these matches that exist, by id."""
    if not ids:
        return {}
    rows = await tx.run(_by_ids(list(ids)))
    return {row["id"]: MatchName(row["number"], row["home"], row["away"]) for row in rows}


@prepared
def _by_ids(ids: Collection[UUID]) -> Select[Any]:
    columns = (MatchTable.id, MatchTable.number, MatchTable.home, MatchTable.away)
    return MatchTable.select(*columns).where(any_of(MatchTable.id, ids))


@prepared
def _by_numbers(numbers: Collection[int]) -> Select[Any]:
    columns = (MatchTable.number, MatchTable.home, MatchTable.away)
    return MatchTable.select(*columns).where(any_of(MatchTable.number, numbers))
