"""The audit log: who changed what about tenants, keys, bookings and matches; append-only."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import msgspec
from piccolo.columns.combination import Where

from app.store.tables.key import Audit
from app.store.transaction import Tx


class AuditRecord(msgspec.Struct, frozen=True):
    """`actor` did `action` to `subject` (a slug, a key's id, a match) at `at` (ms)."""

    at: int
    actor: str
    action: str
    subject: str
    tenant_id: UUID | None = None
    details: dict[str, Any] = {}


async def add(tx: Tx, record: AuditRecord) -> None:
    await tx.execute(
        "INSERT INTO audit (at, actor, action, subject, tenant_id, details) VALUES ($1, $2, $3, $4, $5, $6)",
        record.at,
        record.actor,
        record.action,
        record.subject,
        record.tenant_id,
        msgspec.json.encode(record.details, order="deterministic"),
    )


async def add_removed(
    tx: Tx, ids: Iterable[UUID], action: str, details: dict[str, Any], actor: str, at: int
) -> None:
    """Add a record of removal for each of these matches."""
    for match_id in ids:
        await add(tx, AuditRecord(at, actor, action, str(match_id), None, details))


async def listing(tx: Tx, tenant_id: UUID, limit: int) -> list[AuditRecord]:
    """The newest `limit` records about a tenant, newest first."""
    return await _newest(tx, Audit.tenant_id == tenant_id, limit)


async def about(tx: Tx, subject: str, limit: int) -> list[AuditRecord]:
    """The newest `limit` records about a subject (a match's UUID, a key's), newest first."""
    return await _newest(tx, Audit.subject == subject, limit)


async def _newest(tx: Tx, condition: Where, limit: int) -> list[AuditRecord]:
    query = (
        Audit.select(Audit.at, Audit.actor, Audit.action, Audit.subject, Audit.tenant_id, Audit.details)
        .where(condition)
        .order_by(Audit.id, ascending=False)
        .limit(limit)
    )
    rows = await tx.run(query)
    return [AuditRecord(**row | {"details": msgspec.json.decode(row["details"])}) for row in rows]
