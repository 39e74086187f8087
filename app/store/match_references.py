"""Operators' own ids of matches: a command that is sent twice is executed once."""

from uuid import UUID

from app.store.transaction import Tx


async def record_once(tx: Tx, reference: str, match_id: UUID, request: bytes) -> tuple[UUID, bytes]:
    """Bind `reference` to `match_id`, unless it is bound already; the match that it is bound to, and the JSON
    of the request that bound it. Waits for another transaction that is about to bind the same one."""
    await tx.execute(
        "INSERT INTO match_reference (reference, match_id, asked) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        reference,
        match_id,
        request,
    )
    row = await tx.row(
        "SELECT match_id, asked AS request FROM match_reference WHERE reference = $1", reference
    )
    if row is None:
        return match_id, request
    return row["match_id"], row["request"]
