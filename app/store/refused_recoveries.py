"""Recoveries that were refused because their key's rate was exceeded: when the client may be notified, so
that it requests one again. Times are the database's."""

from collections.abc import Collection
from uuid import UUID

from app.store.sql import NOW
from app.store.transaction import Tx

_RECORD = f"""
INSERT INTO refused_recovery (key_id, tenant_id, due_at) VALUES ($1, $2, {NOW} + $3)
ON CONFLICT (key_id) DO UPDATE SET due_at = excluded.due_at
"""
_TAKE_DUE = f"""
WITH due AS (
    DELETE FROM refused_recovery r USING tenant_cursor c
    WHERE c.tenant_id = r.tenant_id AND c.holder = $1 AND c.tenant_id = ANY ($2::uuid[])
        AND r.due_at <= {NOW}
    RETURNING r.tenant_id
)
UPDATE tenant_cursor c SET owed = true FROM (SELECT DISTINCT tenant_id FROM due) AS notified
WHERE c.tenant_id = notified.tenant_id RETURNING c.tenant_id
"""


async def record(tx: Tx, key_id: UUID, tenant_id: UUID, wait: int) -> None:
    """Record that a recovery of this key was refused, and that it has room again in `wait` ms."""
    await tx.execute(_RECORD, key_id, tenant_id, wait)


async def take_due(tx: Tx, holder: str, tenants: Collection[UUID]) -> set[UUID]:
    """Those of these tenants of `holder` that are to be notified now. Their cursors say so from now on, for
    the next holder, should this one end before."""
    return {row["tenant_id"] for row in await tx.fetch(_TAKE_DUE, holder, list(tenants))}
