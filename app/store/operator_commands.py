"""Operators' commands by the operators' own ids: a command that is sent twice is executed once."""

from uuid import UUID

import msgspec

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
    inserted = await tx.execute(
        """
        INSERT INTO operator_command (actor, reference, match_id, at, asked) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING
        """,
        owner,
        reference,
        match_id,
        now,
        request,
    )
    if inserted:
        return None
    row = await tx.row(
        "SELECT match_id, asked AS request FROM operator_command WHERE actor = $1 AND reference = $2",
        owner,
        reference,
    )
    return RecordedCommand(row["match_id"], row["request"]) if row else None
