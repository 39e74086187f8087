"""Stored keys: never the key itself, only its keyed hash. Every change sends a notification."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select

from app.domain.tenant import RATE_LIMIT_RPM, Tenant
from app.kit.errors import NotFound
from app.store import notifications, tenants
from app.store.prepared import prepared, reading_row, reading_rows
from app.store.row_mapping import RowMapping, Stored
from app.store.sql import NEWEST, any_of
from app.store.statements import writes
from app.store.tables.tenant import ApiKey
from app.store.tables.tenant import Tenant as TenantTable
from app.store.transaction import Row, Tx


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """An issued key. `hint` is its first characters; `networks` the addresses that may use it (CIDR; none
    means any); `reference` the operator's own id of it. Times in Unix ms."""

    id: UUID
    tenant_id: UUID
    hint: str
    label: str
    scopes: frozenset[str]
    sports: frozenset[str]
    networks: tuple[str, ...] = ()
    rate_limit_rpm: int = RATE_LIMIT_RPM
    finished_only: bool = False
    operator: bool = False
    active: bool = True
    created_at: int = 0
    revoked_at: int | None = None
    replaced_by: UUID | None = None
    last_used_at: int | None = None
    reference: str | None = None


class KeyWithTenant(msgspec.Struct, frozen=True):
    """A key with its tenant, as found by `hash`."""

    hash: bytes
    key: Key
    tenant: Tenant


_LIST = Stored(sorted, tuple)
_SET = Stored(sorted, frozenset)
_ROWS = RowMapping(
    ApiKey,
    Key,
    beside=("hash",),
    lasting=("tenant_id",),
    stored={"scopes": _SET, "sports": _SET, "networks": _LIST},
)
_WITH_TENANT = (ApiKey.hash, *_ROWS.columns, *tenants.ROWS.joined(ApiKey.tenant_id.join_on(TenantTable.id)))


def _key_with_tenant(row: Row) -> KeyWithTenant:
    return KeyWithTenant(row["hash"], _ROWS.read(row), tenants.ROWS.read_joined(row))


@reading_row(_key_with_tenant)
def by_hash(digest: bytes, /) -> Select[Any]:
    """The key with that hash and its tenant, active or not."""
    return ApiKey.select(*_WITH_TENANT).where(ApiKey.hash == digest)


@reading_rows(_key_with_tenant)
def by_ids(ids: Collection[UUID], /) -> Select[Any]:
    """Those of these keys that exist, with their tenants, active or not."""
    return ApiKey.select(*_WITH_TENANT).where(any_of(ApiKey.id, ids))


async def insert(tx: Tx, key: Key, digest: bytes) -> None:
    await tx.change(_ROWS.insert(key, digest))
    await notifications.notify(tx, notifications.GRANTS, str(key.id))


async def lock(tx: Tx, key_id: UUID) -> Key:
    """The key, its row locked until the transaction ends; raises `NotFound`."""
    row = await tx.first(_lock(key_id))
    if row is None:
        raise NotFound(f"There is no key {key_id}.", code="no_key", key=key_id)
    return _ROWS.read(row)


@reading_row(_ROWS.read)
def by_reference(tenant_id: UUID, reference: str, /) -> Select[Any]:
    """The tenant's key that was issued under that id."""
    return ApiKey.select(*_ROWS.columns).where(ApiKey.tenant_id == tenant_id, ApiKey.reference == reference)


@reading_rows(_ROWS.read)
def listing(tenant_id: UUID, /) -> Select[Any]:
    """The tenant's keys, revoked ones too, oldest first."""
    query = ApiKey.select(*_ROWS.columns).where(ApiKey.tenant_id == tenant_id)
    return query.order_by(ApiKey.created_at, ApiKey.id)


async def newest(
    tx: Tx, tenant_id: UUID, *, active: bool, limit: int, before: tuple[int, UUID] | None = None
) -> list[Key]:
    """At most `limit` of the tenant's keys that are active or not, newest first, that were created `before`
    that moment (Unix ms) and key."""
    at, key_id = before or NEWEST
    return [_ROWS.read(row) for row in await tx.run(_newest(tenant_id, active, at, key_id, limit=limit))]


async def save(tx: Tx, key: Key) -> None:
    """Write the fields of a key that may change: all except its id, tenant and hash."""
    await tx.change(_ROWS.update(key))
    await notifications.notify(tx, notifications.GRANTS, str(key.id))


async def record_last_used(tx: Tx, last_used: Mapping[UUID, int]) -> None:
    """Write when keys were last used (ms); without a notification, since no rights change."""
    await tx.execute(writes.RECORD_LAST_USED, list(last_used), list(last_used.values()))


@prepared
def _lock(key_id: UUID) -> Select[Any]:
    return ApiKey.select(*_ROWS.columns).where(ApiKey.id == key_id).lock_rows("UPDATE")


@prepared
def _newest(tenant_id: UUID, active: bool, at: int, key_id: UUID, *, limit: int) -> Select[Any]:
    earlier = (ApiKey.created_at < at) | ((ApiKey.created_at == at) & (ApiKey.id < key_id))
    query = ApiKey.select(*_ROWS.columns).where(
        ApiKey.tenant_id == tenant_id, ApiKey.active == active, earlier
    )
    return query.order_by(ApiKey.created_at, ApiKey.id, ascending=False).limit(limit)
