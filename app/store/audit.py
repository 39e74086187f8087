"""The audit log: who changed what, be it a tenant, a person, a key, a match or an alert; append-only."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select

from app.store.prepared import prepared, reading_rows
from app.store.row_mapping import RowMapping, Stored
from app.store.sql import any_of
from app.store.tables.tenant import Audit
from app.store.transaction import Tx


class AuditRecord(msgspec.Struct, frozen=True):
    """`actor` did `action` to `subject` (a slug, a key's id, a match) at `at` (ms)."""

    at: int
    actor: str
    action: str
    subject: str
    tenant_id: UUID | None = None
    details: dict[str, Any] = {}


_DETAILS = Stored(msgspec.json.Encoder(order="deterministic").encode, msgspec.json.decode)
_ROWS = RowMapping(Audit, AuditRecord, stored={"details": _DETAILS})


async def add(tx: Tx, record: AuditRecord) -> None:
    await tx.change(_ROWS.insert(record))


async def add_removed(
    tx: Tx, ids: Iterable[UUID], action: str, details: dict[str, Any], actor: str, at: int
) -> None:
    """Add a record of removal for each of these matches."""
    for match_id in ids:
        await add(tx, AuditRecord(at, actor, action, str(match_id), None, details))


@reading_rows(_ROWS.read)
def listing(tenant_id: UUID, /, *, limit: int) -> Select[Audit]:
    """The newest `limit` records about a tenant, newest first."""
    query = Audit.select(*_ROWS.columns).where(Audit.tenant_id == tenant_id)
    return query.order_by(Audit.id, ascending=False).limit(limit)


@reading_rows(_ROWS.read)
def about(subject: str, /, *, limit: int) -> Select[Audit]:
    """The newest `limit` records about a subject (a match's UUID, a key's), newest first."""
    query = Audit.select(*_ROWS.columns).where(Audit.subject == subject)
    return query.order_by(Audit.id, ascending=False).limit(limit)


@reading_rows(lambda row: (row["id"], _ROWS.read(row)))
def page(before: int, /, *, limit: int) -> Select[Audit]:
    """At most `limit` records with an id below `before`, newest first, each with its id."""
    query = Audit.select(Audit.id, *_ROWS.columns).where(Audit.id < before)
    return query.order_by(Audit.id, ascending=False).limit(limit)


async def last_of(tx: Tx, subjects: Collection[str], action: str) -> dict[str, AuditRecord]:
    """The newest record of that action about each of these subjects that has one."""
    rows = await tx.run(_last_of(list(subjects), action)) if subjects else []
    return {record.subject: record for record in map(_ROWS.read, rows)}


@prepared
def _last_of(subjects: Collection[str], action: str) -> Select[Audit]:
    query = Audit.select(*_ROWS.columns).where(any_of(Audit.subject, subjects), Audit.action == action)
    query = query.distinct(on=[Audit.subject])
    return query.order_by(Audit.subject).order_by(Audit.id, ascending=False)
