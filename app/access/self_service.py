"""What a tenant's own people do: make and change keys, within what an operator has granted the tenant, and
make and test its AMQP credentials.

A new key has at most the rights of one key of the tenant that is active, or that its own people revoked:
what an operator revokes is withdrawn. The rights of several keys do not add up, for one may be of another
sport, or see finished matches only. Operators' keys grant nothing here, and cannot be changed.
"""

from urllib.parse import unquote, urlsplit
from uuid import UUID

import msgspec

from app.access import admin, api_keys
from app.access.admin import BrokerConfig, IssuedKey, provision_amqp
from app.access.api_keys import KeyProperties, validate_properties
from app.broker.address import Address, parse
from app.broker.login_check import Step, check_login
from app.broker.permissions import tenant_user
from app.domain.scopes import receives_feed
from app.domain.tenant import Tenant, is_user
from app.kit.errors import Conflict, Field, Forbidden, Invalid, NotFound, TooManyRequests
from app.store import audit, keys, tenants
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.counters import Counters
from app.store.keys import Key
from app.store.transaction import Tx

MAX_ACTIVE = 50  #: keys of a tenant, above which its people cannot make another
_REFERENCE = "portal:"
_CHECKS_PER_MINUTE = 6
_CHECK_SECONDS = 10.0
_NO_PASSWORD = Invalid(Field(("password",), "Paste the password, or the whole URL.", "no_password"))


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
        return receives_feed(self.scopes, self.sports, finished_only=self.finished_only)


async def entitlements(tx: Tx, tenant_id: UUID) -> frozenset[Entitlement]:
    """What the tenant may give to new keys: to each no more than one of these."""
    # A rotated key does not count, as its replacement does.
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


async def lock_own_key(tx: Tx, tenant_id: UUID, key_id: UUID) -> Key:
    """The key, if the tenant's people may change it, locked until the transaction ends. Raises `NotFound`,
    also for a key of another tenant, and `OperatorsKey`."""
    key = await keys.lock(tx, key_id)
    if key.tenant_id != tenant_id:
        raise NotFound(f"There is no key {key_id}.", code="no_key", key=key_id)
    if key.operator:
        raise OperatorsKey("Only operators change operators' keys.")
    return key


async def find_key(tx: Tx, tenant_id: UUID, raw: str, *, secret: str) -> Key | None:
    """The tenant's key with that secret, active or not. Nothing is recorded: this is no use of the key."""
    if not api_keys.is_key(raw):
        return None
    found = await keys.by_hash(tx, api_keys.key_hash(raw, secret))
    return found.key if found and found.key.tenant_id == tenant_id else None


class CredentialsChanged(Conflict):
    """The credentials have changed since the page with the form was shown."""


class NoFeed(Forbidden):
    """No key of the tenant includes the feed."""


class TooManyChecks(TooManyRequests):
    """Credentials were made or checked too often within a minute."""


class LoginCheck(msgspec.Struct, frozen=True):
    """A login with the tenant's user in its vhost: its steps; and which parts of a pasted URL name something
    else (`user`, `vhost`, `host`), which the login did not use."""

    steps: tuple[Step, ...]
    differs: tuple[str, ...]

    @property
    def succeeded(self) -> bool:
        return not self.steps[-1].error


async def last_provisioned(tx: Tx, tenant: Tenant) -> AuditRecord | None:
    """Who made the present credentials, and when; None where nobody has."""
    found = await audit.last_of(tx, [tenant.slug], "tenant.provision_amqp")
    return found.get(tenant.slug)


async def may_provision(tx: Tx, tenant: Tenant) -> bool:
    """Whether the tenant's people may make credentials: it has a vhost, or a key that includes the feed."""
    return tenant.amqp or any(each.feed for each in await entitlements(tx, tenant.id))


async def provision_own_vhost(
    store: Store, counters: Counters, tenant: Tenant, seen: int, broker: BrokerConfig, *, by: str, now: int
) -> str:
    """`admin.provision_amqp`, unless the credentials are no longer those of `seen` (Unix ms, 0 for none): a
    form that a browser sends again changes nothing.

    Also raises `CredentialsChanged`, `NoFeed`, and `TooManyChecks` when it was tried within the last minute.
    """
    async with store.autocommit() as tx:
        last = await last_provisioned(tx, tenant)
        if (last.at if last else 0) != seen:
            raise CredentialsChanged("The credentials have been made anew meanwhile; reload this page.")
        if not await may_provision(tx, tenant):
            raise NoFeed("No key of your tenant includes the feed; ask your account manager.")
    await _limit(counters, f"vhost-provision:{tenant.id.hex}:{seen}", 1)
    return await provision_amqp(store, tenant.slug, broker, by=by, now=now)


async def check_credentials(
    counters: Counters, tenant: Tenant, pasted: str, broker: BrokerConfig
) -> LoginCheck:
    """Log in as the tenant's client does, with a password or the password of an AMQP URL. Of the URL nothing
    else is used: the login goes to our broker, to the tenant's vhost.

    Raises `Invalid` without a password or a vhost, `TooManyChecks`.
    """
    if not tenant.amqp:
        raise Invalid(Field(("password",), "There is no vhost yet; make credentials first.", "no_vhost"))
    login, differs = _login(pasted, tenant, broker)
    await _limit(counters, f"vhost-check:{tenant.id.hex}", _CHECKS_PER_MINUTE)
    return LoginCheck(await check_login(login, tenant.vhost, broker.exchange, _CHECK_SECONDS), differs)


def _login(pasted: str, tenant: Tenant, broker: BrokerConfig) -> tuple[Address, tuple[str, ...]]:
    user = tenant_user(tenant.vhost)
    own = broker.address or parse(f"amqp://{broker.public_host}")
    password, differs = pasted, tuple[str, ...]()
    if "://" in pasted:
        try:
            parts = urlsplit(pasted)
            password = unquote(parts.password or "")
            named = {"user": unquote(parts.username or ""), "vhost": unquote(parts.path[1:])}
            named["host"] = parts.netloc.rpartition("@")[2].lower()
        except ValueError:
            raise _NO_PASSWORD from None
        expected = {"user": user, "vhost": tenant.vhost, "host": broker.public_host.lower()}
        differs = tuple(name for name, value in expected.items() if named[name] != value)
    if not password:
        raise _NO_PASSWORD
    return msgspec.structs.replace(own, user=user, password=password), differs


async def _limit(counters: Counters, name: str, limit: int) -> None:
    if millis := await counters.refused_for(name, limit):
        seconds = -(-millis // 1000)
        raise TooManyChecks(f"Too often; try again in {seconds} s.", retry_after=seconds)
