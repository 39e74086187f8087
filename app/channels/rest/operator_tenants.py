"""Operators' commands on tenants and keys, under /ops/v1/tenants; for operator keys only.

Each is one audited transaction, seen by every process when it is answered. Commands that are repeated
change nothing: what is already so is answered as it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any
from uuid import UUID

import msgspec
from litestar import get, patch, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from app.access import admin
from app.access.properties import Alteration
from app.channels.rest.office import (
    AmqpView,
    IssuedView,
    KeyChange,
    KeyView,
    NewKey,
    NewTenant,
    Office,
    RecordView,
    TenantView,
    issued_view,
    key_view,
    record_view,
    tenant_view,
)
from app.http.auth import Caller
from app.kit.errors import Invalid, NotFound
from app.store import audit, keys, tenants
from app.store.transaction import Tx
from app.wire.views.meta import ListMeta, Many, Single

_TENANTS = "/ops/v1/tenants"
_TENANT = f"{_TENANTS}/{{slug:str}}"
_KEY = f"{_TENANT}/keys/{{key_id:uuid}}"
_OPERATOR: dict[str, Any] = {"operator": True}
_AUDIT: dict[str, Any] = {"operator": True, "query": ("limit",)}


@post(_TENANTS, opt=_OPERATOR)
async def create_tenant(
    request: Caller, office: NamedDependency[Office], data: JSONBody[NewTenant]
) -> Single[TenantView]:
    """Create a tenant; the same slug and name again answer the same tenant."""
    with _in_body():
        async with office.changing() as tx:
            made = await admin.create_tenant(
                tx, data.slug, data.name, internal_vhost=office.internal_vhost, **_signed(request, office)
            )
    return Single(tenant_view(made))


@get(_TENANTS, opt=_OPERATOR)
async def list_tenants(office: NamedDependency[Office]) -> Many[TenantView]:
    """Every tenant, by slug."""
    async with office.store.reading() as tx:
        return _many([tenant_view(tenant) for tenant in await tenants.listing(tx)])


@get(_TENANT, opt=_OPERATOR)
async def show_tenant(office: NamedDependency[Office], slug: FromPath[str]) -> Single[TenantView]:
    async with office.store.reading() as tx:
        return Single(tenant_view(await tenants.by_slug(tx, slug)))


@post(f"{_TENANT}/revoke", opt=_OPERATOR, status_code=200)
async def revoke_tenant(
    request: Caller, office: NamedDependency[Office], slug: FromPath[str]
) -> Single[TenantView]:
    """Keep a tenant out, with all its keys and its AMQP user, until it is reactivated."""
    return await _set_active(request, office, slug, False)


@post(f"{_TENANT}/reactivate", opt=_OPERATOR, status_code=200)
async def reactivate_tenant(
    request: Caller, office: NamedDependency[Office], slug: FromPath[str]
) -> Single[TenantView]:
    """Let a revoked tenant in again, with the keys and the AMQP password that it had."""
    return await _set_active(request, office, slug, True)


@post(f"{_TENANT}/amqp", opt=_OPERATOR)
async def provision(
    request: Caller, office: NamedDependency[Office], slug: FromPath[str]
) -> Single[AmqpView]:
    """Give a tenant its vhost, or a new password for it; answered once a login with it has worked."""
    url = await admin.provision_amqp(office.store, slug, office.broker, **_signed(request, office))
    return Single(AmqpView(url, office.broker.exchange))


@get(f"{_TENANT}/audit", opt=_AUDIT)
async def show_audit(
    office: NamedDependency[Office],
    slug: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 100,
) -> Many[RecordView]:
    """What was done about a tenant, its keys and its bookings, newest first."""
    async with office.store.reading() as tx:
        tenant = await tenants.by_slug(tx, slug)
        return _many([record_view(record) for record in await audit.listing(tx, tenant.id, limit)])


@post(f"{_TENANT}/keys", opt=_OPERATOR)
async def issue_key(
    request: Caller, office: NamedDependency[Office], slug: FromPath[str], data: JSONBody[NewKey]
) -> Single[IssuedView]:
    """Issue a key; its secret is shown in this answer and never again."""
    signed = _signed(request, office) | {"secret": office.secret}
    with _in_body():
        async with office.changing() as tx:
            if data.request_id is None:
                return Single(issued_view(await admin.issue_key(tx, slug, data.properties(), **signed)))
            once = await admin.issue_key_once(tx, slug, data.properties(), data.request_id, **signed)
            return Single(issued_view(once))


@get(f"{_TENANT}/keys", opt=_OPERATOR)
async def list_keys(office: NamedDependency[Office], slug: FromPath[str]) -> Many[KeyView]:
    """A tenant's keys, revoked ones too, oldest first."""
    async with office.store.reading() as tx:
        tenant = await tenants.by_slug(tx, slug)
        return _many([key_view(key) for key in await keys.listing(tx, tenant.id)])


@post(f"{_KEY}/rotate", opt=_OPERATOR)
async def rotate_key(
    request: Caller, office: NamedDependency[Office], slug: FromPath[str], key_id: FromPath[UUID]
) -> Single[IssuedView]:
    """Replace a key by a new one with the same rights; the old one is dead at once."""
    async with office.changing() as tx:
        await _of_tenant(tx, slug, key_id)
        issued = await admin.rotate_key(tx, key_id, secret=office.secret, **_signed(request, office))
    return Single(issued_view(issued))


@post(f"{_KEY}/revoke", opt=_OPERATOR, status_code=200)
async def revoke_key(
    request: Caller, office: NamedDependency[Office], slug: FromPath[str], key_id: FromPath[UUID]
) -> Single[KeyView]:
    """End a key without replacement."""
    async with office.changing() as tx:
        await _of_tenant(tx, slug, key_id)
        return Single(key_view(await admin.revoke_key(tx, key_id, **_signed(request, office))))


@post(f"{_KEY}/reactivate", opt=_OPERATOR, status_code=200)
async def reactivate_key(
    request: Caller, office: NamedDependency[Office], slug: FromPath[str], key_id: FromPath[UUID]
) -> Single[KeyView]:
    """Let a revoked key be used again; not one that was rotated away."""
    async with office.changing() as tx:
        await _of_tenant(tx, slug, key_id)
        return Single(key_view(await admin.reactivate_key(tx, key_id, **_signed(request, office))))


@patch(_KEY, opt=_OPERATOR)
async def alter_key(
    request: Caller,
    office: NamedDependency[Office],
    slug: FromPath[str],
    key_id: FromPath[UUID],
    data: JSONBody[KeyChange],
) -> Single[KeyView]:
    """Change a key's rate, sports, networks or label."""
    change = Alteration(**msgspec.structs.asdict(data))
    with _in_body():
        async with office.changing() as tx:
            await _of_tenant(tx, slug, key_id)
            return Single(key_view(await admin.alter_key(tx, key_id, change, **_signed(request, office))))


async def _set_active(request: Caller, office: Office, slug: str, active: bool) -> Single[TenantView]:
    async with office.changing() as tx:
        tenant = await admin.set_tenant_active(tx, slug, active, **_signed(request, office))
    return Single(tenant_view(tenant))


async def _of_tenant(tx: Tx, slug: str, key_id: UUID) -> None:
    """Raise `NotFound` unless the key is this tenant's."""
    tenant = await tenants.by_slug(tx, slug)
    if (await keys.lock(tx, key_id)).tenant_id != tenant.id:
        raise NotFound(f"Tenant {slug!r} has no key {key_id}.")


def _signed(request: Caller, office: Office) -> dict[str, Any]:
    """Who does it, and when."""
    return {"by": request.auth.actor, "now": office.clock()}


@contextmanager
def _in_body() -> Iterator[None]:
    """Say of every field that does not fit that it stands in the request's body."""
    try:
        yield
    except Invalid as error:
        fields = [msgspec.structs.replace(field, loc=("body", *field.loc)) for field in error.fields]
        raise Invalid(*fields) from error


def _many(views: list[Any]) -> Many[Any]:
    return Many(tuple(views), ListMeta(len(views)))


HANDLERS = (
    create_tenant,
    list_tenants,
    show_tenant,
    revoke_tenant,
    reactivate_tenant,
    provision,
    show_audit,
    issue_key,
    list_keys,
    rotate_key,
    revoke_key,
    reactivate_key,
    alter_key,
)
