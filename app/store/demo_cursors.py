"""Moving a tenant's cursor by force, for the fault menu of `sandbox`: never in a production service.

It is here because only the store uses SQL."""

from typing import Any
from uuid import UUID

from piccolo.query import Select, Update

from app.store.prepared import prepared, writing
from app.store.sql import now
from app.store.tables.tenant import TenantCursor
from app.store.transaction import Tx


async def position(tx: Tx, tenant_id: UUID) -> int:
    """The tenant's cursor: the seq up to which changes have been published to it."""
    seq: int | None = await tx.one_value(_position(tenant_id))
    return seq or 0


@writing
def skip(tenant_id: UUID, to: int, /) -> Update[Any]:
    """Move a tenant's cursor ahead without publishing; no process may hold its lease."""
    behind = (TenantCursor.seq < to, TenantCursor.expires_at < now())
    return TenantCursor.update({TenantCursor.seq: to}).where(TenantCursor.tenant_id == tenant_id, *behind)


@prepared
def _position(tenant_id: UUID) -> Select[Any]:
    return TenantCursor.select(TenantCursor.seq).where(TenantCursor.tenant_id == tenant_id)
