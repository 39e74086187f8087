"""Operators' commands on tenants: create, revoke, AMQP access, bookings, market types, audit; under
/ops/v1/tenants. And the state of each tenant's feed, /ops/v1/feed.

Each change is one audited transaction, in force in every process when the response is sent. A repeated
command changes nothing and returns the present state.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any
from uuid import UUID

import msgspec
from litestar import post, put
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from app.access import admin, feed_selection
from app.access.feed_selection import TypeState, market_types_of, set_market_types
from app.access.profiles import profile_of
from app.amqp.delivery_status import TenantStatus, tenant_statuses
from app.domain.tenant import Tenant
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.clock import iso_seconds
from app.kit.names import Name
from app.operations.api.dependencies import (
    LIMITED,
    OPERATOR,
    TENANT,
    Limit,
    Operators,
    Text,
    audit_fields,
    invalid_in_body,
)
from app.store import audit, tenants
from app.store.audit import AuditRecord
from app.wire.text import iso_time_millis
from app.wire.views.meta import Many, Single, many

_TENANTS = "/ops/v1/tenants"
_TYPES = f"{TENANT}/market-types"
#: For the OpenAPI document only; `access` validates the value, with its own message.
Slug = Annotated[Text, Meta(extra_json_schema={"pattern": "^[a-z][a-z0-9-]{0,29}[a-z0-9]$"})]


class NewTenant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The slug is the operator's own id of the tenant: a repeated request returns the same tenant. `vhost` is
    what names its vhost: `bookmaker_id` for clients that have `/oddinfeed/{bookmaker_id}` built in."""

    slug: Slug
    name: Name
    vhost: admin.VhostName = "slug"


class TenantView(msgspec.Struct, frozen=True):
    """A tenant: `amqp` once it has a vhost, whose name is `vhost` and in which it may have `max_queues`
    queues; `probabilities`: its odds come with the model's probabilities; `bet_stop`: it receives this
    message. `profile` and its version: by which
    its odds are made; null: it has the standard odds."""

    tenant_id: UUID
    slug: str
    name: str
    active: bool
    amqp: bool
    vhost: str
    max_queues: int
    probabilities: bool
    bet_stop: bool
    profile: str | None
    profile_version: int | None


class AmqpView(msgspec.Struct, frozen=True):
    """The tenant's access to its vhost. The URL contains a password that is shown once."""

    amqp_url: str
    exchange: str


class RecordView(msgspec.Struct, frozen=True):
    """Who did what, to which tenant, key or match."""

    at: str
    actor: str
    action: str
    subject: str
    details: dict[str, Any]


class Probabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    probabilities: bool


class BetStop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    bet_stop: bool


class Queues(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many queues a tenant may have."""

    max_queues: Annotated[int, Meta(ge=1, le=1_000)]


class Booking(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    booked: bool


class TypeView(msgspec.Struct, frozen=True):
    """A market type: whether it is `on` for the tenant, and when it was switched last (null: never)."""

    id: int
    name: str
    on: bool
    since: str | None


class Switch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    on: bool


@post(_TENANTS, opt=OPERATOR)
async def create_tenant(
    request: AuthenticatedRequest, ops: Operators, data: JSONBody[NewTenant]
) -> Single[TenantView]:
    """Create a tenant; a repeated request with the same slug and name returns the same tenant."""
    with invalid_in_body():
        async with ops.grants.changing() as tx:
            made = await admin.create_tenant(
                tx,
                data.slug,
                data.name,
                internal_vhost=ops.internal_vhost,
                vhost=data.vhost,
                **audit_fields(request, ops.clock),
            )
    return Single(tenant_view(made))


@get(_TENANTS, opt=OPERATOR)
async def list_tenants(ops: Operators) -> Many[TenantView]:
    """Every tenant, by slug."""
    async with ops.store.autocommit() as tx:
        return many(tenant_view(tenant) for tenant in await tenants.listing(tx))


@get(TENANT, opt=OPERATOR)
async def show_tenant(ops: Operators, slug: FromPath[str]) -> Single[TenantView]:
    async with ops.store.autocommit() as tx:
        return Single(tenant_view(await tenants.by_slug(tx, slug)))


@post(f"{TENANT}/revoke", opt=OPERATOR, status_code=200)
async def revoke_tenant(
    request: AuthenticatedRequest, ops: Operators, slug: FromPath[str]
) -> Single[TenantView]:
    """Revoke a tenant's access, all its keys and its AMQP user included, until it is reactivated."""
    return await _changed(request, ops, admin.set_tenant_active, slug, False)


@post(f"{TENANT}/reactivate", opt=OPERATOR, status_code=200)
async def reactivate_tenant(
    request: AuthenticatedRequest, ops: Operators, slug: FromPath[str]
) -> Single[TenantView]:
    """Restore the access of a revoked tenant, with the keys and the AMQP password that it had."""
    return await _changed(request, ops, admin.set_tenant_active, slug, True)


@post(f"{TENANT}/amqp", opt=OPERATOR)
async def provision(request: AuthenticatedRequest, ops: Operators, slug: FromPath[str]) -> Single[AmqpView]:
    """Create a tenant's vhost, or a new password for it; answered once a login with it has succeeded."""
    url = await admin.provision_amqp(ops.store, slug, ops.broker, **audit_fields(request, ops.clock))
    return Single(AmqpView(url, ops.broker.exchange))


@put(f"{TENANT}/probabilities", opt=OPERATOR)
async def set_probabilities(
    request: AuthenticatedRequest, ops: Operators, slug: FromPath[str], data: JSONBody[Probabilities]
) -> Single[TenantView]:
    """Send a tenant the model's probabilities with the odds, or no longer; in force within a second."""
    return await _changed(request, ops, admin.set_probabilities, slug, data.probabilities)


@put(f"{TENANT}/bet-stop", opt=OPERATOR)
async def set_bet_stop(
    request: AuthenticatedRequest, ops: Operators, slug: FromPath[str], data: JSONBody[BetStop]
) -> Single[TenantView]:
    """Send a tenant `bet_stop` before the `odds_change` by which the whole offer of a match stops, or no
    longer; in force within a second."""
    return await _changed(request, ops, admin.set_bet_stop, slug, data.bet_stop)


@put(f"{TENANT}/queues", opt=OPERATOR)
async def set_max_queues(
    request: AuthenticatedRequest, ops: Operators, slug: FromPath[str], data: JSONBody[Queues]
) -> Single[TenantView]:
    """Let a tenant have so many queues; in force within seconds. Queues beyond that stay."""
    return await _changed(request, ops, admin.set_max_queues, slug, data.max_queues)


@get(f"{TENANT}/audit", opt=LIMITED)
async def show_audit(ops: Operators, slug: FromPath[str], limit: Limit = 100) -> Many[RecordView]:
    """Changes of a tenant, its keys and its bookings, newest first."""
    async with ops.store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, slug)
        return many(record_view(record) for record in await audit.listing(tx, tenant.id, limit=limit))


@put(f"{TENANT}/bookings/{{match_id:str}}", opt=OPERATOR)
async def set_booking(
    request: AuthenticatedRequest,
    ops: Operators,
    slug: FromPath[str],
    match_id: FromPath[str],
    data: JSONBody[Booking],
) -> Single[Booking]:
    """Hide a match from a tenant, or show it again."""
    async with ops.store.transaction() as tx:
        by = request.auth.actor
        await feed_selection.set_booked(tx, slug, match_id, data.booked, by=by, now=ops.clock())
    return Single(data)


@get(_TYPES, opt=OPERATOR)
async def list_market_types(ops: Operators, slug: FromPath[str]) -> Many[TypeView]:
    """Every market type, and whether it is on for the tenant."""
    async with ops.store.autocommit() as tx:
        return many(_type_view(each) for each in await market_types_of(tx, slug))


@put(f"{_TYPES}/{{type_id:int}}", opt=OPERATOR)
async def switch_market_type(
    request: AuthenticatedRequest,
    ops: Operators,
    slug: FromPath[str],
    type_id: FromPath[int],
    data: JSONBody[Switch],
) -> Single[TypeView]:
    """Switch a market type on or off for a tenant. Off: its open markets are suspended for the tenant, new
    ones are not offered to it, and results of those that were still arrive."""
    async with ops.grants.changing() as tx:
        states = await set_market_types(tx, slug, (type_id,), data.on, **audit_fields(request, ops.clock))
    (switched,) = (each for each in states if each.type.id == type_id)
    return Single(_type_view(switched))


@get("/ops/v1/feed", opt=OPERATOR)
async def show_feed(ops: Operators) -> Many[TenantStatus]:
    """The AMQP feed of each tenant: lag, connection, queues, losses."""
    return many(await tenant_statuses(ops.store, ops.broker.management))


async def _changed(
    request: AuthenticatedRequest,
    ops: Operators,
    change: Callable[..., Awaitable[Tenant]],
    slug: str,
    value: bool | int,
) -> Single[TenantView]:
    """The tenant, of which `change` has given a property another value."""
    async with ops.grants.changing() as tx:
        tenant = await change(tx, slug, value, **audit_fields(request, ops.clock))
    return Single(tenant_view(tenant))


def tenant_view(tenant: Tenant) -> TenantView:
    profile = profile_of(tenant)
    return TenantView(
        tenant.id,
        tenant.slug,
        tenant.name,
        tenant.active,
        tenant.amqp,
        tenant.vhost,
        tenant.max_queues,
        tenant.probabilities,
        tenant.bet_stop,
        profile.name if profile else None,
        profile.version if profile else None,
    )


def record_view(record: AuditRecord) -> RecordView:
    return RecordView(iso_seconds(record.at), record.actor, record.action, record.subject, record.details)


def _type_view(state: TypeState) -> TypeView:
    return TypeView(state.type.id, state.type.name.en, state.on, iso_time_millis(state.since))
