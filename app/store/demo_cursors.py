"""For rehearsals on a demonstration, never for a service that somebody depends on."""

from uuid import UUID

from app.store.transaction import Tx


async def position(tx: Tx, tenant_id: UUID) -> int:
    """Up to which change a tenant has been told."""
    seq: int | None = await tx.value("SELECT seq FROM tenant_cursor WHERE tenant_id = $1", tenant_id)
    return seq or 0


async def skip(tx: Tx, tenant_id: UUID, to: int) -> None:
    """Move a tenant's cursor ahead, as if it had been told; nobody may hold it at this moment."""
    await tx.execute(
        "UPDATE tenant_cursor SET seq = $2 WHERE tenant_id = $1 AND seq < $2 AND expires_at < "
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
        tenant_id,
        to,
    )
