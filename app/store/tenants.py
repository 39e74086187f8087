"""Tenants and their bookings: every match is booked, except those that a tenant has unbooked."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

import asyncpg
from piccolo.query.base import Query

from app.domain.tenant import Tenant
from app.kit.errors import Conflict, NotFound
from app.store import cache_invalidation, notifications
from app.store.tables.tenant import Tenant as TenantTable
from app.store.tables.tenant import Unbooked
from app.store.transaction import Tx

_COLUMNS = (
    TenantTable.id,
    TenantTable.slug,
    TenantTable.name,
    TenantTable.amqp,
    TenantTable.active,
    TenantTable.probabilities,
)


async def insert(tx: Tx, tenant: Tenant, now: int) -> None:
    """Add a tenant; raises `Conflict` when its slug (or id) is in use."""
    row = TenantTable(
        id=tenant.id,
        slug=tenant.slug,
        name=tenant.name,
        amqp=tenant.amqp,
        active=tenant.active,
        probabilities=tenant.probabilities,
        created_at=now,
    )
    try:
        await tx.run(TenantTable.insert(row))
    except asyncpg.UniqueViolationError as error:
        raise Conflict(f"There is a tenant {tenant.slug!r} already.") from error
    await notifications.notify(tx, notifications.TENANTS, str(tenant.id))


async def get(tx: Tx, tenant_id: UUID) -> Tenant | None:
    rows = await tx.run(TenantTable.select(*_COLUMNS).where(TenantTable.id == tenant_id))
    return Tenant(**rows[0]) if rows else None


async def by_slug(tx: Tx, slug: str) -> Tenant:
    """The tenant with that slug; raises `NotFound`."""
    rows = await tx.run(TenantTable.select(*_COLUMNS).where(TenantTable.slug == slug))
    if not rows:
        raise NotFound(f"There is no tenant {slug!r}.")
    return Tenant(**rows[0])


async def lock(tx: Tx, slug: str) -> Tenant:
    """`by_slug`, and its row locked until the transaction ends."""
    query = TenantTable.select(*_COLUMNS).where(TenantTable.slug == slug).lock_rows("UPDATE")
    rows = await tx.run(query)
    if not rows:
        raise NotFound(f"There is no tenant {slug!r}.")
    return Tenant(**rows[0])


async def listing(tx: Tx) -> list[Tenant]:
    """Every tenant, by slug."""
    rows = await tx.run(TenantTable.select(*_COLUMNS).order_by(TenantTable.slug))
    return [Tenant(**row) for row in rows]


async def save(tx: Tx, tenant: Tenant) -> None:
    """Write name, `amqp`, `active` and `probabilities` of a known tenant; raises `NotFound`."""
    query = (
        TenantTable.update(
            {
                TenantTable.name: tenant.name,
                TenantTable.amqp: tenant.amqp,
                TenantTable.active: tenant.active,
                TenantTable.probabilities: tenant.probabilities,
            }
        )
        .where(TenantTable.id == tenant.id)
        .returning(TenantTable.id)
    )
    if not await tx.run(query):
        raise NotFound(f"There is no tenant {tenant.slug!r}.")
    await notifications.notify(tx, notifications.TENANTS, str(tenant.id))
    await notifications.notify(tx, notifications.GRANTS, str(tenant.id))


async def with_probabilities(tx: Tx) -> set[UUID]:
    """The tenants that receive probabilities with the odds."""
    rows = await tx.run(TenantTable.select(TenantTable.id).where(TenantTable.probabilities.eq(True)))
    return {row["id"] for row in rows}


async def broker_access_pending(tx: Tx) -> list[Tenant]:
    """The tenants with a vhost whose access at the broker differs from `active`, by slug."""
    query = (
        TenantTable.select(*_COLUMNS)
        .where(TenantTable.amqp.eq(True))
        .where(TenantTable.active != TenantTable.broker_access_applied)
        .order_by(TenantTable.slug)
    )
    return [Tenant(**row) for row in await tx.run(query)]


async def set_broker_access(tx: Tx, tenant_id: UUID, admitted: bool) -> None:
    """Record whether the broker accepts the tenant's logins."""
    await tx.run(
        TenantTable.update({TenantTable.broker_access_applied: admitted}).where(TenantTable.id == tenant_id)
    )


async def book(tx: Tx, tenant_id: UUID, match_id: UUID) -> bool:
    """Book the match again; whether that changed anything."""
    query = (
        Unbooked.delete()
        .where(Unbooked.tenant_id == tenant_id, Unbooked.match_id == match_id)
        .returning(Unbooked.match_id)
    )
    return await _rebooked(tx, tenant_id, query)


async def unbook(tx: Tx, tenant_id: UUID, match_id: UUID) -> bool:
    """Unbook the match; whether that changed anything."""
    query = (
        Unbooked.insert(Unbooked(tenant_id=tenant_id, match_id=match_id))
        .on_conflict(target=(Unbooked.tenant_id, Unbooked.match_id), action="DO NOTHING")
        .returning(Unbooked.match_id)
    )
    return await _rebooked(tx, tenant_id, query)


async def booked(tx: Tx, tenant_id: UUID, match_ids: Collection[UUID]) -> set[UUID]:
    """Those of `match_ids` that the tenant has booked."""
    if not match_ids:
        return set()
    query = Unbooked.select(Unbooked.match_id).where(
        Unbooked.tenant_id == tenant_id, Unbooked.match_id.is_in(list(match_ids))
    )
    rows = await tx.run(query)
    return set(match_ids) - {row["match_id"] for row in rows}


async def unbooked(tx: Tx) -> set[tuple[UUID, UUID]]:
    """Every unbooked (tenant, match)."""
    rows = await tx.run(Unbooked.select(Unbooked.tenant_id, Unbooked.match_id))
    return {(row["tenant_id"], row["match_id"]) for row in rows}


async def _rebooked(tx: Tx, tenant_id: UUID, query: Query[Any, Any]) -> bool:
    changed = bool(await tx.run(query))
    if changed:
        await notifications.notify(tx, notifications.TENANTS, str(tenant_id))
        await cache_invalidation.notify_all(tx)
    return changed
