"""Tenants' cursors in the change log, and the leases of the processes that publish to them (`tenant_cursor`).

A lease is a holder's name and an epoch with an expiry. Acquiring a lease raises the epoch, so that a
checkpoint of an earlier holder changes nothing. Times are the database's, so that processes on machines with
different clocks agree.
"""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

import msgspec
from piccolo.columns import Column
from piccolo.query import Count, Select, Update
from piccolo.query.functions import Coalesce, Max
from piccolo.query.functions import Count as CountOf
from piccolo.querystring import QueryString

from app.store.prepared import (
    prepared,
    reading,
    reading_number,
    reading_optional_number,
    reading_rows,
    writing,
)
from app.store.sql import LOSING, any_of, columns_of, holds, now
from app.store.statements import claims, reads, writes
from app.store.tables.tenant import Tenant, TenantCursor
from app.store.transaction import Tx

_TENANT = TenantCursor.tenant_id.join_on(Tenant.id)
_SERVED = (holds(_TENANT.amqp), holds(_TENANT.active))  #: of a cursor: the tenant is published to


class LeasedTenant(msgspec.Struct, frozen=True):
    """A tenant whose lease was acquired, to publish to from `seq` on.

    `former_holders` lost the lease without releasing it, and may still be connected to the broker; `silent`
    is the time in ms since `alive` was last published to it (0 for a tenant that never had a holder); the
    rest is what the last holder reported.
    """

    tenant_id: UUID
    slug: str
    vhost: str
    seq: int
    epoch: int
    former_holders: tuple[str, ...] = ()
    silent: int = 0
    dropped: int = 0
    notified_heartbeat: int = -1
    notice_pending: bool = False
    bound_queues: str = ""


class Checkpoint(msgspec.Struct, frozen=True):
    """A tenant's cursor in a holder's `epoch`; `notice_pending`: the tenant has missed something before `seq`
    and has not been notified of it."""

    epoch: int
    seq: int
    notice_pending: bool


class TenantReport(msgspec.Struct, frozen=True):
    """What a tenant's holder knows of it: `state` of the connection ("" while it works), the time in ms since
    `alive` was published, how many messages its queues have lost in all, and the last ingest heartbeat of the
    outage that the tenant was notified of (-1: none); `notice_pending` as in `Checkpoint`; `bound_queues`:
    the queues that live messages are routed to, as a JSON list, "" when there never was one."""

    state: str
    silent: int
    dropped: int
    notified_heartbeat: int
    notice_pending: bool
    bound_queues: str = ""


class CursorStatus(msgspec.Struct, frozen=True):
    """One tenant's cursor: `behind` envelopes not yet published, the `oldest` of them written so many ms ago
    (None when there is none); `remaining` ms of the holder's lease; `unbound`: live messages are routed to no
    queue now, though there was one; the rest as in `TenantReport`."""

    slug: str
    vhost: str
    seq: int
    holder: str | None
    epoch: int
    remaining: int
    state: str
    dropped: int
    silent: int
    behind: int
    oldest: int | None
    unbound: bool
    notice_pending: bool


class MessageLoss(msgspec.Struct, frozen=True):
    """A tenant's losses: the messages that its queues have `dropped` since it has counted as losing some.
    `unbound`: live messages are routed to no queue now, though there was one."""

    slug: str
    dropped: int
    unbound: bool


async def create_missing(tx: Tx) -> None:
    """Create the missing cursors of tenants with a vhost, at the present end of the change log."""
    await tx.execute(claims.CREATE_CURSORS)


async def acquire(tx: Tx, holder: str, limit: int, lease: int) -> list[LeasedTenant]:
    """Acquire the leases of up to `limit` tenants without a holder, for `lease` ms."""
    rows = await tx.fetch(claims.ACQUIRE_LEASES, holder, limit, lease)
    return [msgspec.convert(row, LeasedTenant) for row in rows]


@reading_optional_number
def until_expiry(holder: str, /) -> Select[Any]:
    """In how many ms the first lease of another process expires, if it is not renewed; None without one."""
    remaining = QueryString("min({}) - {}", TenantCursor.expires_at, now(), alias="remaining")
    return TenantCursor.select(remaining).where(
        TenantCursor.holder != holder, TenantCursor.expires_at >= now()
    )


async def forget_former_holders(tx: Tx, holder: str, tenant: LeasedTenant) -> None:
    """Record that the former holders of a tenant that `holder` has acquired are expelled from the broker."""
    await tx.change(_forget_former_holders(holder, tenant.tenant_id, tenant.epoch))


@reading(lambda rows: {row["tenant_id"]: row["epoch"] for row in rows})
def renew(holder: str, lease: int, /) -> Update[Any]:
    """Extend all leases of `holder` by `lease` ms from now; its tenants with their epochs. An expired lease
    is lost, whether or not another process has acquired it."""
    served = Tenant.select(Tenant.id).where(holds(Tenant.amqp), holds(Tenant.active))
    return (
        TenantCursor.update({TenantCursor.expires_at: now() + lease})
        .where(TenantCursor.holder == holder, TenantCursor.expires_at >= now())
        .where(TenantCursor.tenant_id.is_in(served))
        .returning(TenantCursor.tenant_id, TenantCursor.epoch)
    )


async def checkpoint(tx: Tx, holder: str, checkpoints: Mapping[UUID, Checkpoint]) -> set[UUID]:
    """Move cursors, by tenant; the tenants whose cursor moved: the leases of the others are lost."""
    columns = columns_of(map(msgspec.structs.astuple, checkpoints.values()))
    updated = await tx.fetch(writes.CHECKPOINT, holder, list(checkpoints), *columns)
    return {row["tenant_id"] for row in updated}


@writing
def release(holder: str, tenants: Collection[UUID], /) -> Update[Any]:
    """Release the leases of `tenants`; no message to them may be unconfirmed any more."""
    values: dict[Column | str, Any] = {TenantCursor.holder: None, TenantCursor.expires_at: now()}
    return TenantCursor.update(values).where(
        TenantCursor.holder == holder, any_of(TenantCursor.tenant_id, tenants)
    )


async def save_reports(tx: Tx, holder: str, reports: Mapping[UUID, TenantReport]) -> set[UUID]:
    """Store what `holder` knows of its tenants, for operators and for the next holder; the tenants for which
    it was stored: the leases of the others are lost."""
    if not reports:
        return set()
    columns = columns_of(map(msgspec.structs.astuple, reports.values()))
    updated = await tx.fetch(writes.SAVE_REPORTS, holder, list(reports), *columns)
    return {row["tenant_id"] for row in updated}


@reading_rows(lambda row: MessageLoss(**row))
def losses() -> Select[Any]:
    """The tenants that have lost messages within the last five minutes, or have not yet been notified that
    they missed something."""
    return TenantCursor.select(
        _TENANT.slug.as_alias("slug"),
        QueryString("{} - {}", TenantCursor.dropped, TenantCursor.dropped_before, alias="dropped"),
        QueryString("{} = '[]'", TenantCursor.bound_queues, alias="unbound"),
    ).where(*_SERVED, QueryString(LOSING))


@reading(lambda rows: (rows[0]["silent"], rows[0]["all"]))
def silent_count(millis: int, /) -> Select[Any]:
    """How many tenants have received no `alive` for `millis`, and how many tenants the feed has."""
    overdue = (TenantCursor.last_alive_at < now() - millis).querystring
    silent = QueryString("count(*) FILTER (WHERE {})", overdue, alias="silent")
    return TenantCursor.select(CountOf(alias="all"), silent).where(*_SERVED)


async def late_count(tx: Tx, millis: int) -> tuple[int, int]:
    """How many tenants wait for a message that is older than `millis`, and of how many: those with a queue
    that is bound, and a connection that works as far as is known."""
    found = await tx.row(reads.LATE_TENANTS, millis)
    return (found["late"], found["served"]) if found else (0, 0)


@reading_number
def tenant_count() -> Count:
    """How many tenants the feed has."""
    return Tenant.count().where(holds(Tenant.amqp), holds(Tenant.active))


async def statuses(tx: Tx) -> list[CursorStatus]:
    """The status of every tenant's cursor, by slug."""
    return [CursorStatus(**row) for row in await tx.fetch(reads.CURSOR_STATUS)]


async def status_of(tx: Tx, tenant_id: UUID) -> CursorStatus | None:
    """The status of one tenant's cursor; None without one, or for a tenant that is not published to."""
    row = await tx.row(reads.CURSOR_STATUS_OF, tenant_id)
    return CursorStatus(**row) if row else None


@reading_number
def position(tenant_id: UUID, /) -> Select[Any]:
    """The tenant's cursor: the seq up to which changes have been published to it."""
    return TenantCursor.select(Coalesce(Max(TenantCursor.seq), 0)).where(TenantCursor.tenant_id == tenant_id)


@writing
def skip(tenant_id: UUID, to: int, /) -> Update[Any]:
    """Move a tenant's cursor ahead without publishing, for the fault menu of `sandbox`: never in a production
    service. No process may hold its lease."""
    behind = (TenantCursor.seq < to, TenantCursor.expires_at < now())
    return TenantCursor.update({TenantCursor.seq: to}).where(TenantCursor.tenant_id == tenant_id, *behind)


@prepared
def _forget_former_holders(holder: str, tenant_id: UUID, epoch: int) -> Update[Any]:
    values: dict[Column | str, Any] = {TenantCursor.former_holders: []}
    return TenantCursor.update(values).where(
        TenantCursor.tenant_id == tenant_id, TenantCursor.holder == holder, TenantCursor.epoch == epoch
    )
