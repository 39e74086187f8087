"""Operators' own ids of matches: a command that is sent twice is executed once."""

from typing import Any
from uuid import UUID

from piccolo.query import Insert, Select

from app.store.prepared import prepared
from app.store.tables.match import MatchReference
from app.store.transaction import Tx


async def record_once(tx: Tx, reference: str, match_id: UUID, request: bytes) -> tuple[UUID, bytes]:
    """Bind `reference` to `match_id`, unless it is bound already; the match that it is bound to, and the JSON
    of the request that bound it. Waits for another transaction that is about to bind the same one."""
    await tx.change(_bind(reference, match_id, request))
    row = await tx.first(_bound(reference))
    if row is None:
        return match_id, request
    return row["match_id"], row["request"]


@prepared
def _bind(reference: str, match_id: UUID, request: bytes) -> Insert[Any]:
    row = MatchReference(reference=reference, match_id=match_id, request=request)
    return MatchReference.insert(row).on_conflict(action="DO NOTHING")


@prepared
def _bound(reference: str) -> Select[Any]:
    columns = (MatchReference.match_id, MatchReference.request.as_alias("request"))
    return MatchReference.select(*columns).where(MatchReference.reference == reference)
