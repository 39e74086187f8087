"""Operators' commands on a tenant's API keys, under /ops/v1/tenants/{slug}/keys.

Each change is one audited transaction, in force in every process when the response is sent. A repeated
command changes nothing and returns the present state.
"""

from uuid import UUID

import msgspec
from litestar import patch, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from app.access import admin
from app.access.api_keys import KeyAlteration
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.errors import NotFound
from app.operations.api.dependencies import OperatorDependencies
from app.operations.api.key_views import IssuedView, KeyChange, KeyView, NewKey, issued_view, key_view
from app.operations.api.shared import OPERATOR, audit_fields, invalid_in_body, many
from app.operations.api.tenants import TENANT
from app.store import keys, tenants
from app.store.transaction import Tx
from app.wire.views.meta import Many, Single

_KEYS = f"{TENANT}/keys"
_KEY = f"{_KEYS}/{{key_id:uuid}}"


@post(_KEYS, opt=OPERATOR)
async def issue_key(
    request: AuthenticatedRequest,
    ops: NamedDependency[OperatorDependencies],
    slug: FromPath[str],
    data: JSONBody[NewKey],
) -> Single[IssuedView]:
    """Issue a key; its secret is in this response and never shown again."""
    signed = audit_fields(request, ops.clock) | {"secret": ops.secret}
    with invalid_in_body():
        async with ops.grants.changing() as tx:
            if data.request_id is None:
                return Single(issued_view(await admin.issue_key(tx, slug, data.properties(), **signed)))
            once = await admin.issue_key_once(tx, slug, data.properties(), data.request_id, **signed)
            return Single(issued_view(once))


@get(_KEYS, opt=OPERATOR)
async def list_keys(ops: NamedDependency[OperatorDependencies], slug: FromPath[str]) -> Many[KeyView]:
    """A tenant's keys, revoked ones too, oldest first."""
    async with ops.store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, slug)
        return many([key_view(key) for key in await keys.listing(tx, tenant.id)])


@post(f"{_KEY}/rotate", opt=OPERATOR)
async def rotate_key(
    request: AuthenticatedRequest,
    ops: NamedDependency[OperatorDependencies],
    slug: FromPath[str],
    key_id: FromPath[UUID],
) -> Single[IssuedView]:
    """Replace a key by a new one with the same rights; the old one is invalid at once."""
    async with ops.grants.changing() as tx:
        await _of_tenant(tx, slug, key_id)
        issued = await admin.rotate_key(tx, key_id, secret=ops.secret, **audit_fields(request, ops.clock))
    return Single(issued_view(issued))


@post(f"{_KEY}/revoke", opt=OPERATOR, status_code=200)
async def revoke_key(
    request: AuthenticatedRequest,
    ops: NamedDependency[OperatorDependencies],
    slug: FromPath[str],
    key_id: FromPath[UUID],
) -> Single[KeyView]:
    """Revoke a key without replacement."""
    async with ops.grants.changing() as tx:
        await _of_tenant(tx, slug, key_id)
        return Single(key_view(await admin.revoke_key(tx, key_id, **audit_fields(request, ops.clock))))


@post(f"{_KEY}/reactivate", opt=OPERATOR, status_code=200)
async def reactivate_key(
    request: AuthenticatedRequest,
    ops: NamedDependency[OperatorDependencies],
    slug: FromPath[str],
    key_id: FromPath[UUID],
) -> Single[KeyView]:
    """Reactivate a revoked key; a key that was rotated stays revoked."""
    async with ops.grants.changing() as tx:
        await _of_tenant(tx, slug, key_id)
        return Single(key_view(await admin.reactivate_key(tx, key_id, **audit_fields(request, ops.clock))))


@patch(_KEY, opt=OPERATOR)
async def alter_key(
    request: AuthenticatedRequest,
    ops: NamedDependency[OperatorDependencies],
    slug: FromPath[str],
    key_id: FromPath[UUID],
    data: JSONBody[KeyChange],
) -> Single[KeyView]:
    """Change a key's rate, sports, networks or label."""
    change = KeyAlteration(**msgspec.structs.asdict(data))
    with invalid_in_body():
        async with ops.grants.changing() as tx:
            await _of_tenant(tx, slug, key_id)
            return Single(
                key_view(await admin.alter_key(tx, key_id, change, **audit_fields(request, ops.clock)))
            )


async def _of_tenant(tx: Tx, slug: str, key_id: UUID) -> None:
    """Raise `NotFound` unless the key is this tenant's."""
    tenant = await tenants.by_slug(tx, slug)
    if (await keys.lock(tx, key_id)).tenant_id != tenant.id:
        raise NotFound(f"Tenant {slug!r} has no key {key_id}.")


HANDLERS = (
    issue_key,
    list_keys,
    rotate_key,
    revoke_key,
    reactivate_key,
    alter_key,
)
