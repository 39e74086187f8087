"""Recoveries that were refused because their key's rate was exceeded: when the client may be notified, so
that it requests one again. Times are the database's."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from piccolo.query import Insert, Select
from piccolo.query.functions import Max

from app.store.prepared import prepared, writing
from app.store.sql import any_of, now
from app.store.statements import writes
from app.store.tables.tenant import RefusedRecovery, TenantCursor
from app.store.transaction import Tx


@writing
def record(key_id: UUID, tenant_id: UUID, wait: int, /) -> Insert[Any]:
    """Record that a recovery of this key was refused, and that it has room again in `wait` ms."""
    row = RefusedRecovery(key_id=key_id, tenant_id=tenant_id, due_at=now() + wait)
    return RefusedRecovery.insert(row).on_conflict(
        RefusedRecovery.key_id, action="DO UPDATE", values=[RefusedRecovery.due_at]
    )


async def due(tx: Tx, holder: str, tenants: Collection[UUID]) -> dict[UUID, int]:
    """Those of these tenants of `holder` whose clients have room again for a refused recovery, and since when
    the last of them has. They stay due until `delete`, for the next holder, should this one end before it has
    notified them."""
    return {row["tenant_id"]: row["due_at"] for row in await tx.run(_due(holder, list(tenants)))}


async def delete(tx: Tx, notified: Mapping[UUID, int]) -> None:
    """Delete what was due until these times for these tenants, which have been notified."""
    if notified:
        await tx.execute(writes.DELETE_REFUSED, list(notified), list(notified.values()))


@prepared
def _due(holder: str, tenants: Collection[UUID]) -> Select[Any]:
    cursor = RefusedRecovery.tenant_id.join_on(TenantCursor.tenant_id)
    query = RefusedRecovery.select(RefusedRecovery.tenant_id, Max(RefusedRecovery.due_at, alias="due_at"))
    query = query.where(any_of(RefusedRecovery.tenant_id, tenants), cursor.holder == holder)
    return query.where(RefusedRecovery.due_at <= now()).group_by(RefusedRecovery.tenant_id)
