"""Operators' commands by their own ids: one that is sent twice is done once."""

from uuid import UUID

import msgspec

from app.store.transaction import Tx


class RecordedCommand(msgspec.Struct, frozen=True):
    """A command as it was first given: `asked` is its JSON."""

    match_id: UUID
    asked: bytes


async def record_once(
    tx: Tx, holder: str, reference: str, match_id: UUID, asked: bytes, now: int
) -> RecordedCommand | None:
    """None when this is the first time that `holder` uses `reference`, else what it stood for then.

    Waits for another transaction that is about to use the same one.
    """
    taken = await tx.execute(
        """
        INSERT INTO operator_command (actor, reference, match_id, at, asked) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING
        """,
        holder,
        reference,
        match_id,
        now,
        asked,
    )
    if taken:
        return None
    row = await tx.row(
        "SELECT match_id, asked FROM operator_command WHERE actor = $1 AND reference = $2", holder, reference
    )
    return RecordedCommand(row["match_id"], row["asked"]) if row else None
