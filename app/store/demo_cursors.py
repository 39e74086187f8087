"""Moving a tenant's cursor by force, for the fault menu of `sandbox`: never in a production service.

It is here because only the store uses SQL."""

from uuid import UUID

from app.store.transaction import Tx


async def position(tx: Tx, tenant_id: UUID) -> int:
    """The tenant's cursor: the seq up to which changes have been published to it."""
    seq: int | None = await tx.value("SELECT seq FROM tenant_cursor WHERE tenant_id = $1", tenant_id)
    return seq or 0


async def skip(tx: Tx, tenant_id: UUID, to: int) -> None:
    """Move a tenant's cursor ahead without publishing; no process may hold its lease."""
    await tx.execute(
        "UPDATE tenant_cursor SET seq = $2 WHERE tenant_id = $1 AND seq < $2 AND expires_at < "
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
        tenant_id,
        to,
    )
