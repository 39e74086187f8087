"""Changes to tenants and keys: each validated, written and audited in the caller's transaction.

`by` names the actor, `now` is Unix ms. A change that changes nothing writes no audit record.
"""

import re
from typing import Any, Literal
from uuid import UUID, uuid4

import msgspec

from app.access import api_keys
from app.access.api_keys import KeyAlteration, KeyProperties, validate_alteration, validate_properties
from app.broker import provisioning
from app.broker.address import Address
from app.broker.management import Management
from app.broker.permissions import AuthorisationMode
from app.domain.tenant import MAX_QUEUES, NUMBERED_VHOST, Tenant
from app.kit.errors import Conflict, Field, Invalid
from app.store import audit, keys, tenants
from app.store.connections import Store
from app.store.keys import Key
from app.store.transaction import Tx

#: Vhosts are named after tenants, and so are users (`op-<slug>`): these names are reserved.
RESERVED = frozenset({"matchfeed", "guest", "admin", "internal"})
VhostName = Literal["slug", "bookmaker_id"]  #: what names a tenant's vhost
_MOST_QUEUES = 1_000
_SLUG = re.compile(r"[a-z][a-z0-9-]{0,29}[a-z0-9]")


class IssuedKey(msgspec.Struct, frozen=True):
    """A new key: `raw` is shown once and cannot be recovered."""

    key: Key
    raw: str

    def __repr__(self) -> str:
        return f"IssuedKey(key={self.key.id}, raw=…)"


class BrokerConfig(msgspec.Struct, frozen=True):
    """The broker for provisioning: `public_host` is the host in tenants' URLs, `address` the one to which we
    connect, `mode` how it applies tenants' permissions."""

    management: Management
    exchange: str
    public_host: str
    mode: AuthorisationMode
    address: Address | None = None

    async def provision(self, vhost: str, max_queues: int = MAX_QUEUES) -> str:
        """Create or repair a tenant's vhost, with a new password: the AMQP URL (`broker.provisioning`)."""
        return await provisioning.provision(
            self.management,
            vhost,
            self.exchange,
            self.public_host,
            mode=self.mode,
            broker=self.address,
            max_queues=max_queues,
        )


async def create_tenant(
    tx: Tx, slug: str, name: str, *, by: str, now: int, internal_vhost: str = "", vhost: VhostName = "slug"
) -> Tenant:
    """A new tenant, or the existing one of that slug and name. No tenant may have the name of the internal
    vhost. Its own vhost is named by its slug, or, for clients that have that name built in, by its number as
    a bookmaker; clients depend on the name, so it never changes.

    Raises `Invalid` for a slug that cannot name a vhost, `Conflict` when another tenant has it, or this one
    has a vhost named otherwise.
    """
    if not _SLUG.fullmatch(slug) or slug in RESERVED | {internal_vhost}:
        what = "2 to 31 characters of a-z, 0-9 and - (first a letter, last no -), and not a reserved name"
        raise Invalid(Field(("slug",), f"A slug is {what}.", "slug", slug))
    present = {tenant.slug: tenant for tenant in await tenants.listing(tx)}.get(slug)
    if present and present.name == name:
        if vhost != ("bookmaker_id" if present.named_vhost else "slug"):
            raise Conflict(f"The vhost of tenant {slug!r} is named {present.vhost!r}, which stays so.")
        return present
    if present:
        raise Conflict(f"There is a tenant {slug!r} already, by the name {present.name!r}.")
    tenant = Tenant(uuid4(), slug, name)
    if vhost == "bookmaker_id":
        named = f"{NUMBERED_VHOST}{tenant.bookmaker_id}"
        tenant = msgspec.structs.replace(tenant, named_vhost=named)
    await tenants.insert(tx, tenant, now)
    await _audit(tx, by, now, "tenant.create", slug, tenant.id, name=name, vhost=tenant.vhost)
    return tenant


async def set_tenant_active(tx: Tx, slug: str, active: bool, *, by: str, now: int) -> Tenant:
    """Activate or deactivate a tenant with all its keys; `access.broker_sync` applies it to the broker.
    Raises `NotFound`."""
    return await _change_tenant(
        tx, slug, "activate" if active else "deactivate", {}, by=by, now=now, active=active
    )


async def set_probabilities(tx: Tx, slug: str, wanted: bool, *, by: str, now: int) -> Tenant:
    """Send a tenant the model's probabilities with the odds, or no longer. Raises `NotFound`."""
    details = {"probabilities": wanted}
    return await _change_tenant(tx, slug, "probabilities", details, by=by, now=now, probabilities=wanted)


async def set_bet_stop(tx: Tx, slug: str, wanted: bool, *, by: str, now: int) -> Tenant:
    """Send a tenant `bet_stop` where the whole offer of a match stops, or no longer. Raises `NotFound`."""
    return await _change_tenant(tx, slug, "bet_stop", {"bet_stop": wanted}, by=by, now=now, bet_stop=wanted)


async def set_max_queues(tx: Tx, slug: str, most: int, *, by: str, now: int) -> Tenant:
    """Let a tenant have so many queues at the broker (1 to 1,000); `access.broker_sync` applies it. Queues
    beyond that stay. Raises `Invalid`, `NotFound`."""
    if not 1 <= most <= _MOST_QUEUES:
        what = f"A tenant may have 1 to {_MOST_QUEUES} queues."
        raise Invalid(Field(("max_queues",), what, "max_queues", most))
    return await _change_tenant(tx, slug, "max_queues", {"max_queues": most}, by=by, now=now, max_queues=most)


async def _change_tenant(
    tx: Tx, slug: str, action: str, details: dict[str, Any], *, by: str, now: int, **fields: Any
) -> Tenant:
    tenant = await tenants.lock(tx, slug)
    changed = msgspec.structs.replace(tenant, **fields)
    if changed != tenant:
        await tenants.save(tx, changed)
        await _audit(tx, by, now, f"tenant.{action}", slug, tenant.id, **details)
    return changed


async def issue_key(
    tx: Tx, slug: str, properties: KeyProperties, *, secret: str, by: str, now: int
) -> IssuedKey:
    """A new key for the tenant. Raises `NotFound`, or `Invalid` with the fields that do not fit."""
    tenant = await tenants.lock(tx, slug)
    granted = validate_properties(properties)
    issued = await _new_key(tx, Key(**_new_key_fields(tenant.id, now), **granted), secret)
    await _audit(tx, by, now, "key.issue", str(issued.key.id), tenant.id, **granted)
    return issued


async def issue_key_once(
    tx: Tx, slug: str, properties: KeyProperties, reference: str, *, secret: str, by: str, now: int
) -> IssuedKey | Key:
    """`issue_key`, or the key that was issued to this tenant under the same `reference` (its secret cannot be
    recovered). Also raises `Conflict` when that key was issued with other rights."""
    tenant = await tenants.lock(tx, slug)
    granted = validate_properties(properties)
    known = await keys.by_reference(tx, tenant.id, reference)
    if known is None:
        issued = await _new_key(
            tx, Key(**_new_key_fields(tenant.id, now), **granted, reference=reference), secret
        )
        await _audit(tx, by, now, "key.issue", str(issued.key.id), tenant.id, **granted, reference=reference)
        return issued
    if any(getattr(known, right) != granted[right] for right in ("scopes", "finished_only", "operator")):
        what = f"Reference {reference!r} stands for key {known.id}, which has other rights."
        raise Conflict(what, code="other_rights")
    return known


async def rotate_key(tx: Tx, key_id: UUID, *, secret: str, by: str, now: int) -> IssuedKey:
    """A new key with the same properties; the old one is revoked at once.

    Raises `NotFound`, or `Conflict` when the key is not active.
    """
    old = await keys.lock(tx, key_id)
    if not old.active:
        heir = f" and replaced by {old.replaced_by}" if old.replaced_by else ""
        what = f"Only an active key can be rotated; this one is revoked{heir}."
        raise Conflict(what, code="key_not_active")
    own = {"last_used_at": None, "reference": None}
    values = msgspec.structs.asdict(old) | _new_key_fields(old.tenant_id, now) | own
    issued = await _new_key(tx, Key(**values), secret)
    ended = msgspec.structs.replace(old, active=False, revoked_at=now, replaced_by=issued.key.id)
    await keys.save(tx, ended)
    await _audit(tx, by, now, "key.rotate", str(old.id), old.tenant_id, replaced_by=str(issued.key.id))
    return issued


async def revoke_key(tx: Tx, key_id: UUID, *, by: str, now: int) -> Key:
    """Revoke a key without replacement. Raises `NotFound`."""
    key = await keys.lock(tx, key_id)
    if not key.active:
        return key
    ended = msgspec.structs.replace(key, active=False, revoked_at=now)
    await keys.save(tx, ended)
    await _audit(tx, by, now, "key.revoke", str(key.id), key.tenant_id)
    return ended


async def reactivate_key(tx: Tx, key_id: UUID, *, by: str, now: int) -> Key:
    """Reactivate a revoked key. Raises `NotFound`, or `Conflict` when it was rotated."""
    key = await keys.lock(tx, key_id)
    if key.active:
        return key
    if key.replaced_by:
        raise Conflict(f"This key was rotated: its replacement {key.replaced_by} is the one to use.")
    again = msgspec.structs.replace(key, active=True, revoked_at=None)
    await keys.save(tx, again)
    await _audit(tx, by, now, "key.reactivate", str(key.id), key.tenant_id)
    return again


async def alter_key(tx: Tx, key_id: UUID, alteration: KeyAlteration, *, by: str, now: int) -> Key:
    """Change a key's rate limit, sports, networks or label; what is None stays.

    Raises `NotFound`, or `Invalid` with the fields that do not fit.
    """
    key = await keys.lock(tx, key_id)
    fields = validate_alteration(alteration)
    changed = msgspec.structs.replace(key, **fields)
    if changed == key:
        return key
    await keys.save(tx, changed)
    await _audit(tx, by, now, "key.alter", str(key.id), key.tenant_id, **fields)
    return changed


async def provision_amqp(store: Store, slug: str, broker: BrokerConfig, *, by: str, now: int) -> str:
    """Create the tenant's vhost, or set a new password: the AMQP URL, once a login with it has worked.

    The URL contains the password and is stored nowhere; connections made with an earlier one are closed.
    Raises `NotFound`, `Conflict` when the tenant is not active, `Unavailable` when the broker is down.
    """
    async with store.autocommit() as tx:
        tenant = _active(await tenants.by_slug(tx, slug))
    url = await broker.provision(tenant.vhost, tenant.max_queues)
    async with store.transaction() as tx:
        tenant = await tenants.lock(tx, slug)
        await tenants.save(tx, msgspec.structs.replace(tenant, amqp=True))
        await tenants.set_broker_access(tx, tenant.id, True)
        await _audit(tx, by, now, "tenant.provision_amqp", slug, tenant.id)
    _active(tenant)
    return url


def _active(tenant: Tenant) -> Tenant:
    if not tenant.active:
        raise Conflict(f"Tenant {tenant.slug!r} is revoked; reactivate it first.", code="tenant_revoked")
    return tenant


def _new_key_fields(tenant_id: UUID, now: int) -> dict[str, Any]:
    """The fields in which a new key differs from every other, except its hint."""
    return {"id": uuid4(), "tenant_id": tenant_id, "hint": "", "created_at": now}


async def _new_key(tx: Tx, key: Key, secret: str) -> IssuedKey:
    raw = api_keys.new_key()
    issued = IssuedKey(msgspec.structs.replace(key, hint=api_keys.hint(raw)), raw)
    await keys.insert(tx, issued.key, api_keys.key_hash(raw, secret))
    return issued


async def _audit(
    tx: Tx, by: str, now: int, action: str, subject: str, tenant_id: UUID, **details: Any
) -> None:
    await audit.add(tx, audit.AuditRecord(now, by, action, subject, tenant_id, details))
