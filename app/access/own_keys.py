"""Keys that a tenant's own people make and change, within what an operator has granted the tenant.

A new key has at most the rights of one key of the tenant that is active, or that its own people revoked:
what an operator revokes is withdrawn. The rights of several keys do not add up, for one may be of another
sport, or see finished matches only. Operators' keys grant nothing here, and cannot be changed.
"""

from uuid import UUID

import msgspec

from app.access import admin, key_format
from app.access.admin import IssuedKey
from app.access.properties import KeyProperties, validate_properties
from app.domain.ids import CS2
from app.domain.scopes import RECOVERY
from app.domain.tenant import Tenant, is_user
from app.kit.errors import Conflict, Field, Forbidden, Invalid, NotFound
from app.store import audit, keys, tenants
from app.store.keys import Key
from app.store.transaction import Tx

MAX_ACTIVE = 50  #: keys of a tenant, above which its people cannot make another
_REFERENCE = "portal:"


class TooManyKeys(Conflict):
    """The tenant has `MAX_ACTIVE` keys."""


class OperatorsKey(Forbidden):
    """Only operators change this key."""


class Entitlement(msgspec.Struct, frozen=True):
    """What a tenant may give to one new key at most: the rights of a key that it has or had."""

    scopes: frozenset[str]
    sports: frozenset[str]
    finished_only: bool
    rate_limit_rpm: int

    @property
    def feed(self) -> bool:
        """Whether it includes the feed, as logins with a key require it at the broker."""
        return RECOVERY in self.scopes and CS2.slug in self.sports and not self.finished_only


async def entitlements(tx: Tx, tenant_id: UUID) -> frozenset[Entitlement]:
    """What the tenant may give to new keys: to each no more than one of these."""
    # The replacement of a rotated key stands for it.
    found = [key for key in await keys.listing(tx, tenant_id) if not key.operator and not key.replaced_by]
    revoked = await audit.last_of(tx, [str(key.id) for key in found if not key.active], "key.revoke")
    own = {subject for subject, record in revoked.items() if is_user(record.actor)}
    return frozenset(
        Entitlement(key.scopes, key.sports, key.finished_only, key.rate_limit_rpm)
        for key in found
        if key.active or str(key.id) in own
    )


async def issue_once(
    tx: Tx, tenant: Tenant, properties: KeyProperties, request_id: UUID, *, secret: str, by: str, now: int
) -> IssuedKey | Key:
    """A new key, or the one that was made by the same `request_id`.

    Raises `Invalid` with the fields that do not fit or go beyond what the tenant has, `TooManyKeys`, and
    `Conflict` when the request made a key with other rights.
    """
    await tenants.lock(tx, tenant.slug)
    permitted = within(properties, await entitlements(tx, tenant.id))
    reference = f"{_REFERENCE}{request_id}"
    if await keys.by_reference(tx, tenant.id, reference) is None:
        active = await keys.newest(tx, tenant.id, active=True, limit=MAX_ACTIVE)
        if len(active) >= MAX_ACTIVE:
            what = f"There are {MAX_ACTIVE} active keys; revoke one that is not used any more."
            raise TooManyKeys(what, limit=MAX_ACTIVE)
    return await admin.issue_key_once(tx, tenant.slug, permitted, reference, secret=secret, by=by, now=now)


def within(properties: KeyProperties, granted: frozenset[Entitlement]) -> KeyProperties:
    """The properties, limited to finished matches if every key with these rights is. Raises `Invalid` when
    they go beyond each of `granted`."""
    fields = validate_properties(properties)
    fitting = [
        each for each in granted if each.scopes >= fields["scopes"] and each.sports >= fields["sports"]
    ]
    if fields["operator"] or not fitting:
        what = "No key of yours has all of these rights together; ask your account manager."
        raise Invalid(Field(("scopes",), what, "not_entitled"))
    every = fields["finished_only"] or all(each.finished_only for each in fitting)
    highest = max(each.rate_limit_rpm for each in fitting if every or not each.finished_only)
    if properties.rate_limit_rpm > highest:
        what = f"A key with these rights may send {highest} requests a minute at most."
        raise Invalid(Field(("rate_limit_rpm",), what, "rate_too_high", properties.rate_limit_rpm))
    return msgspec.structs.replace(properties, finished_only=every)


async def lock_own(tx: Tx, tenant_id: UUID, key_id: UUID) -> Key:
    """The key, if the tenant's people may change it, locked until the transaction ends. Raises `NotFound`,
    also for a key of another tenant, and `OperatorsKey`."""
    key = await keys.lock(tx, key_id)
    if key.tenant_id != tenant_id:
        raise NotFound(f"There is no key {key_id}.", code="no_key", key=key_id)
    if key.operator:
        raise OperatorsKey("Only operators change operators' keys.")
    return key


async def find(tx: Tx, tenant_id: UUID, raw: str, *, secret: str) -> Key | None:
    """The tenant's key with that secret, active or not. Nothing is recorded: this is no use of the key."""
    if not key_format.is_well_formed(raw):
        return None
    found = await keys.by_hash(tx, key_format.keyed_hash(raw, secret))
    return found.key if found and found.key.tenant_id == tenant_id else None
