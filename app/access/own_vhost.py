"""A tenant's AMQP credentials, as its own people make and test them."""

from urllib.parse import unquote, urlsplit

import msgspec

from app.access import own_keys
from app.access.admin import BrokerConfig, provision_amqp
from app.broker.address import Address, parse
from app.broker.login_check import Step, check_login
from app.broker.permissions import tenant_user
from app.domain.tenant import Tenant
from app.kit.errors import Conflict, Field, Forbidden, Invalid, TooManyRequests
from app.store import audit
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.counters import Counters
from app.store.transaction import Tx

_CHECKS_PER_MINUTE = 6
_CHECK_SECONDS = 10.0


class CredentialsChanged(Conflict):
    """The credentials were made anew since the page was shown whose form asks for that."""


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
    return tenant.amqp or any(each.feed for each in await own_keys.entitlements(tx, tenant.id))


async def provision(
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


async def check(counters: Counters, tenant: Tenant, pasted: str, broker: BrokerConfig) -> LoginCheck:
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


_NO_PASSWORD = Invalid(Field(("password",), "Paste the password, or the whole URL.", "no_password"))
