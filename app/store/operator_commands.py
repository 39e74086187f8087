"""Operators' commands by the operators' own ids: a command that is sent twice is executed once."""

from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Insert, Select

from app.store.prepared import prepared
from app.store.tables.operations import OperatorCommand
from app.store.transaction import Tx


class RecordedCommand(msgspec.Struct, frozen=True):
    """A command as it was first sent: `request` is its JSON."""

    match_id: UUID
    request: bytes


async def record_once(
    tx: Tx, owner: str, reference: str, match_id: UUID, request: bytes, now: int
) -> RecordedCommand | None:
    """None when `owner` uses `reference` for the first time, else the command that it named then.

    Waits for another transaction that is about to use the same one.
    """
    if await tx.change(_record(owner, reference, match_id, now, request)):
        return None
    row = await tx.first(_recorded(owner, reference))
    return RecordedCommand(row["match_id"], row["request"]) if row else None


@prepared
def _record(owner: str, reference: str, match_id: UUID, now: int, request: bytes) -> Insert[Any]:
    row = OperatorCommand(actor=owner, reference=reference, match_id=match_id, at=now, request=request)
    return OperatorCommand.insert(row).on_conflict(action="DO NOTHING")


@prepared
def _recorded(owner: str, reference: str) -> Select[Any]:
    query = OperatorCommand.select(OperatorCommand.match_id, OperatorCommand.request.as_alias("request"))
    return query.where(OperatorCommand.actor == owner, OperatorCommand.reference == reference)
