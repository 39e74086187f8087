"""The audit log: who changed what about tenants, keys, bookings and matches; append-only."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Insert, Select

from app.store.prepared import prepared
from app.store.sql import any_of
from app.store.tables.tenant import Audit
from app.store.transaction import Row, Tx

_COLUMNS = (Audit.at, Audit.actor, Audit.action, Audit.subject, Audit.tenant_id, Audit.details)


class AuditRecord(msgspec.Struct, frozen=True):
    """`actor` did `action` to `subject` (a slug, a key's id, a match) at `at` (ms)."""

    at: int
    actor: str
    action: str
    subject: str
    tenant_id: UUID | None = None
    details: dict[str, Any] = {}


async def add(tx: Tx, record: AuditRecord) -> None:
    details = msgspec.json.encode(record.details, order="deterministic")
    await tx.change(_add(record.at, record.actor, record.action, record.tenant_id, record.subject, details))


async def add_removed(
    tx: Tx, ids: Iterable[UUID], action: str, details: dict[str, Any], actor: str, at: int
) -> None:
    """Add a record of removal for each of these matches."""
    for match_id in ids:
        await add(tx, AuditRecord(at, actor, action, str(match_id), None, details))


async def listing(tx: Tx, tenant_id: UUID, limit: int) -> list[AuditRecord]:
    """The newest `limit` records about a tenant, newest first."""
    return _records(await tx.run(_newest(tenant_id, column="tenant_id", limit=limit)))


async def about(tx: Tx, subject: str, limit: int) -> list[AuditRecord]:
    """The newest `limit` records about a subject (a match's UUID, a key's), newest first."""
    return _records(await tx.run(_newest(subject, column="subject", limit=limit)))


async def page(tx: Tx, before: int, limit: int) -> list[tuple[int, AuditRecord]]:
    """At most `limit` records with an id below `before`, newest first, each with its id."""
    rows = await tx.run(_page(before, limit=limit))
    ids = [row["id"] for row in rows]
    records = _records([{name: value for name, value in row.items() if name != "id"} for row in rows])
    return list(zip(ids, records, strict=True))


async def last_of(tx: Tx, subjects: Collection[str], action: str) -> dict[str, AuditRecord]:
    """The newest record of that action about each of these subjects that has one."""
    rows = await tx.run(_last_of(list(subjects), action)) if subjects else []
    return {record.subject: record for record in _records(rows)}


@prepared
def _add(
    at: int, actor: str, action: str, tenant_id: UUID | None, subject: str, details: bytes
) -> Insert[Audit]:
    row = Audit(at=at, actor=actor, action=action, tenant_id=tenant_id, subject=subject, details=details)
    return Audit.insert(row)


@prepared
def _newest(about: object, *, column: str, limit: int) -> Select[Audit]:
    query = Audit.select(*_COLUMNS).where(Audit._meta.get_column_by_name(column) == about)
    return query.order_by(Audit.id, ascending=False).limit(limit)


@prepared
def _page(before: int, *, limit: int) -> Select[Audit]:
    query = Audit.select(Audit.id, *_COLUMNS).where(Audit.id < before)
    return query.order_by(Audit.id, ascending=False).limit(limit)


@prepared
def _last_of(subjects: Collection[str], action: str) -> Select[Audit]:
    query = Audit.select(*_COLUMNS).where(any_of(Audit.subject, subjects), Audit.action == action)
    query = query.distinct(on=[Audit.subject])
    return query.order_by(Audit.subject).order_by(Audit.id, ascending=False)


def _records(rows: Iterable[Row]) -> list[AuditRecord]:
    return [AuditRecord(**dict(row) | {"details": msgspec.json.decode(row["details"])}) for row in rows]
