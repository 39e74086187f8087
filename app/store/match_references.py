"""Operators' own ids of matches: a command that is sent twice is done once."""

from uuid import UUID

from app.store.transaction import Tx


async def record_once(tx: Tx, reference: str, match_id: UUID, asked: bytes) -> tuple[UUID, bytes]:
    """Tie `reference` to `match_id`, unless it is tied already; the match that it stands for, and the
    JSON of what was asked then. Waits for another transaction that is about to tie the same one."""
    await tx.execute(
        "INSERT INTO match_reference (reference, match_id, asked) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        reference,
        match_id,
        asked,
    )
    row = await tx.row("SELECT match_id, asked FROM match_reference WHERE reference = $1", reference)
    if row is None:
        return match_id, asked
    return row["match_id"], row["asked"]
