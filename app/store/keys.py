"""Stored keys: never the key itself, only its keyed hash. Every change sends a notification."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

import msgspec
from piccolo.columns import Column

from app.domain.tenant import RATE_LIMIT_RPM, Tenant
from app.kit.errors import NotFound
from app.store import notifications
from app.store.tables.key import ApiKey
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


_COLUMNS = tuple(getattr(ApiKey, name) for name in Key.__struct_fields__)
_WITH_TENANT = f"""
SELECT k.hash, {", ".join(f"k.{name}" for name in Key.__struct_fields__)},
    t.slug, t.name, t.amqp, t.active AS tenant_active, t.probabilities
FROM api_key k JOIN tenant t ON t.id = k.tenant_id
"""


async def by_hash(tx: Tx, digest: bytes) -> KeyWithTenant | None:
    """The key with that hash and its tenant, active or not."""
    row = await tx.row(f"{_WITH_TENANT} WHERE k.hash = $1", digest)
    return _key_with_tenant(row) if row else None


async def by_ids(tx: Tx, ids: Collection[UUID]) -> list[KeyWithTenant]:
    """Those of these keys that exist, with their tenants, active or not."""
    return [
        _key_with_tenant(row) for row in await tx.fetch(f"{_WITH_TENANT} WHERE k.id = ANY($1)", list(ids))
    ]


async def insert(tx: Tx, key: Key, digest: bytes) -> None:
    await tx.run(ApiKey.insert(ApiKey(hash=digest, **_values(key))))
    await notifications.notify(tx, notifications.GRANTS, str(key.id))


async def lock(tx: Tx, key_id: UUID) -> Key:
    """The key, its row locked until the transaction ends; raises `NotFound`."""
    rows = await tx.run(ApiKey.select(*_COLUMNS).where(ApiKey.id == key_id).lock_rows("UPDATE"))
    if not rows:
        raise NotFound(f"There is no key {key_id}.")
    return _key(rows[0])


async def by_reference(tx: Tx, tenant_id: UUID, reference: str) -> Key | None:
    """The tenant's key that was issued under that id."""
    query = ApiKey.select(*_COLUMNS).where(ApiKey.tenant_id == tenant_id, ApiKey.reference == reference)
    rows = await tx.run(query)
    return _key(rows[0]) if rows else None


async def listing(tx: Tx, tenant_id: UUID) -> list[Key]:
    """The tenant's keys, revoked ones too, oldest first."""
    query = (
        ApiKey.select(*_COLUMNS).where(ApiKey.tenant_id == tenant_id).order_by(ApiKey.created_at, ApiKey.id)
    )
    return [_key(row) for row in await tx.run(query)]


async def save(tx: Tx, key: Key) -> None:
    """Write the fields of a key that may change: all except its id, tenant and hash."""
    values: dict[Column | str, Any] = {
        name: value for name, value in _values(key).items() if name not in ("id", "tenant_id")
    }
    await tx.run(ApiKey.update(values).where(ApiKey.id == key.id))
    await notifications.notify(tx, notifications.GRANTS, str(key.id))


async def record_last_used(tx: Tx, last_used: Mapping[UUID, int]) -> None:
    """Write when keys were last used (ms); without a notification, since no rights change."""
    await tx.execute(
        """
        UPDATE api_key SET last_used_at = greatest(last_used_at, u.at)
        FROM unnest($1::uuid[], $2::bigint[]) AS u (id, at) WHERE api_key.id = u.id
        """,
        list(last_used),
        list(last_used.values()),
    )


def _key_with_tenant(row: Row) -> KeyWithTenant:
    tenant = Tenant(
        id=row["tenant_id"],
        slug=row["slug"],
        name=row["name"],
        amqp=row["amqp"],
        active=row["tenant_active"],
        probabilities=row["probabilities"],
    )
    return KeyWithTenant(row["hash"], _key(row), tenant)


def _values(key: Key) -> dict[str, Any]:
    values = msgspec.structs.asdict(key)
    return values | {name: _sorted(values[name]) for name in ("scopes", "sports", "networks")}


def _sorted(words: Iterable[str]) -> list[str]:
    return sorted(words)


def _key(row: Row) -> Key:
    values = {name: row[name] for name in Key.__struct_fields__}
    return Key(
        **values
        | {
            "scopes": frozenset(row["scopes"]),
            "sports": frozenset(row["sports"]),
            "networks": tuple(row["networks"]),
        }
    )
