"""Operators' commands on a tenant's API keys, under /ops/v1/tenants/{slug}/keys.

Each change is one audited transaction, in force in every process when the response is sent. A repeated
command changes nothing and returns the present state.
"""

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import patch, post
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from app.access import admin
from app.access.admin import IssuedKey
from app.access.api_keys import KeyAlteration, KeyProperties
from app.domain.ids import LIVE_SPORTS
from app.domain.scopes import ALL, BUNDLES
from app.domain.tenant import RATE_LIMIT_RPM
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.clock import iso_seconds
from app.kit.errors import NotFound
from app.kit.names import Name
from app.operations.api.dependencies import (
    OPERATOR,
    TENANT,
    Operators,
    Text,
    audit_fields,
    invalid_in_body,
)
from app.store import keys, tenants
from app.store.keys import Key
from app.store.transaction import Tx
from app.wire.text import iso_time
from app.wire.views.meta import Many, Single, many

_KEYS = f"{TENANT}/keys"
_KEY = f"{_KEYS}/{{key_id:uuid}}"
Rate = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 1_000_000})]
_Bundle = Annotated[Text, Meta(extra_json_schema={"enum": sorted(BUNDLES)})]
_Scope = Annotated[Text, Meta(extra_json_schema={"enum": sorted(ALL)})]
_Sport = Annotated[Text, Meta(extra_json_schema={"enum": [sport.slug for sport in LIVE_SPORTS]})]
Bundles = Annotated[tuple[_Bundle, ...], Meta(max_length=100)]
Scopes = Annotated[tuple[_Scope, ...], Meta(max_length=100)]
Sports = Annotated[tuple[_Sport, ...], Meta(max_length=100)]
Networks = Annotated[tuple[Text, ...], Meta(max_length=100)]


class NewKey(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bundles and raw scopes add up. `request_id` is the operator's own: a repeated request with it returns
    the same key, without its secret."""

    bundles: Bundles = ()
    scopes: Scopes = ()
    sports: Sports = ("cs2",)
    label: Text = ""
    rate_limit_rpm: Rate = RATE_LIMIT_RPM
    finished_only: bool = False
    operator: bool = False
    networks: Networks = ()
    request_id: Name | None = None

    def properties(self) -> KeyProperties:
        fields = msgspec.structs.asdict(self)
        del fields["request_id"]
        return KeyProperties(**fields)


class KeyChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Omitted fields stay unchanged."""

    sports: Sports | None = None
    networks: Networks | None = None
    rate_limit_rpm: Rate | None = None
    label: Text | None = None


class KeyView(msgspec.Struct, frozen=True):
    """A key: `hint` is its first characters."""

    key_id: UUID
    hint: str
    label: str
    active: bool
    scopes: tuple[str, ...]
    sport_allowlist: tuple[str, ...]
    networks: tuple[str, ...]
    rate_limit_rpm: int
    finished_only: bool
    operator: bool
    created_at: str
    revoked_at: str | None
    last_used_at: str | None
    replaced_by: UUID | None
    request_id: str | None


class IssuedView(msgspec.Struct, frozen=True, omit_defaults=True):
    """The requested key. `api_key` is shown once: it is absent when the key existed already."""

    key: KeyView
    api_key: str | None = None


@post(_KEYS, opt=OPERATOR)
async def issue_key(
    request: AuthenticatedRequest, ops: Operators, slug: FromPath[str], data: JSONBody[NewKey]
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
async def list_keys(ops: Operators, slug: FromPath[str]) -> Many[KeyView]:
    """A tenant's keys, revoked ones too, oldest first."""
    async with ops.store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, slug)
        return many(key_view(key) for key in await keys.listing(tx, tenant.id))


@post(f"{_KEY}/rotate", opt=OPERATOR)
async def rotate_key(
    request: AuthenticatedRequest, ops: Operators, slug: FromPath[str], key_id: FromPath[UUID]
) -> Single[IssuedView]:
    """Replace a key by a new one with the same rights; the old one is invalid at once."""
    async with ops.grants.changing() as tx:
        await _of_tenant(tx, slug, key_id)
        issued = await admin.rotate_key(tx, key_id, secret=ops.secret, **audit_fields(request, ops.clock))
    return Single(issued_view(issued))


@post(f"{_KEY}/revoke", opt=OPERATOR, status_code=200)
async def revoke_key(
    request: AuthenticatedRequest, ops: Operators, slug: FromPath[str], key_id: FromPath[UUID]
) -> Single[KeyView]:
    """Revoke a key without replacement."""
    async with ops.grants.changing() as tx:
        await _of_tenant(tx, slug, key_id)
        return Single(key_view(await admin.revoke_key(tx, key_id, **audit_fields(request, ops.clock))))


@post(f"{_KEY}/reactivate", opt=OPERATOR, status_code=200)
async def reactivate_key(
    request: AuthenticatedRequest, ops: Operators, slug: FromPath[str], key_id: FromPath[UUID]
) -> Single[KeyView]:
    """Reactivate a revoked key; a key that was rotated stays revoked."""
    async with ops.grants.changing() as tx:
        await _of_tenant(tx, slug, key_id)
        return Single(key_view(await admin.reactivate_key(tx, key_id, **audit_fields(request, ops.clock))))


@patch(_KEY, opt=OPERATOR)
async def alter_key(
    request: AuthenticatedRequest,
    ops: Operators,
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


def key_view(key: Key) -> KeyView:
    return KeyView(
        key_id=key.id,
        hint=key.hint,
        label=key.label,
        active=key.active,
        scopes=tuple(sorted(key.scopes)),
        sport_allowlist=tuple(sorted(key.sports)),
        networks=key.networks,
        rate_limit_rpm=key.rate_limit_rpm,
        finished_only=key.finished_only,
        operator=key.operator,
        created_at=iso_seconds(key.created_at),
        revoked_at=iso_time(key.revoked_at),
        last_used_at=iso_time(key.last_used_at),
        replaced_by=key.replaced_by,
        request_id=key.reference,
    )


def issued_view(issued: IssuedKey | Key) -> IssuedView:
    if isinstance(issued, Key):
        return IssuedView(key_view(issued))
    return IssuedView(key_view(issued.key), issued.raw)
