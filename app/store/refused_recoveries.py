"""Recoveries that were refused because their key's rate was exceeded: when the client may be notified, so
that it requests one again. Times are the database's."""

from collections.abc import Collection, Mapping
from uuid import UUID

from app.store.sql import NOW
from app.store.transaction import Tx

_RECORD = f"""
INSERT INTO refused_recovery (key_id, tenant_id, due_at) VALUES ($1, $2, {NOW} + $3)
ON CONFLICT (key_id) DO UPDATE SET due_at = excluded.due_at
"""
_DUE = f"""
SELECT r.tenant_id, max(r.due_at) AS due_at
FROM refused_recovery r JOIN tenant_cursor c ON c.tenant_id = r.tenant_id AND c.holder = $1
WHERE r.tenant_id = ANY ($2::uuid[]) AND r.due_at <= {NOW}
GROUP BY r.tenant_id
"""
_DELETE = """
DELETE FROM refused_recovery r USING unnest($1::uuid[], $2::bigint[]) AS notified (tenant_id, due_at)
WHERE r.tenant_id = notified.tenant_id AND r.due_at <= notified.due_at
"""


async def record(tx: Tx, key_id: UUID, tenant_id: UUID, wait: int) -> None:
    """Record that a recovery of this key was refused, and that it has room again in `wait` ms."""
    await tx.execute(_RECORD, key_id, tenant_id, wait)


async def due(tx: Tx, holder: str, tenants: Collection[UUID]) -> dict[UUID, int]:
    """Those of these tenants of `holder` whose clients have room again for a refused recovery, and since when
    the last of them has. They stay due until `delete`, for the next holder, should this one end before it has
    notified them."""
    return {row["tenant_id"]: row["due_at"] for row in await tx.fetch(_DUE, holder, list(tenants))}


async def delete(tx: Tx, notified: Mapping[UUID, int]) -> None:
    """Delete what was due until these times for these tenants, which have been notified."""
    if notified:
        await tx.execute(_DELETE, list(notified), list(notified.values()))
