"""All that puts a restored database in order, step by step: no process of the service may be alive, which
would publish from it meanwhile; then each tenant's vhost, user and permissions are made as the database has
them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from app.access.admin import BrokerConfig
from app.access.second_factor import last_usable_step
from app.broker import broker_users, provisioning
from app.broker.broker_users import PUBLISHER_PREFIX, expel_publisher
from app.broker.permissions import is_tenant_user, tenant_user
from app.domain.ids import match_number_at, seq_at
from app.domain.tenant import Tenant
from app.kit.clock import Clock, system_clock
from app.kit.errors import Conflict
from app.operations.restoration import checks, suspension
from app.operations.restoration.checks import Audit
from app.operations.restoration.suspension import Suspended
from app.store import audit, restoration, tenants, timeline
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.restoration import Ended, KnownNumbers
from app.store.timeline import Change

IDLE_SECONDS = 3.0  #: processes that lost the database try to connect again each second

ShowUrl = Callable[[str, str], None]  #: a tenant's slug, and its AMQP URL with a new password


class RebuiltTenants(msgspec.Struct, frozen=True):
    """Tenants by slug: `created` have a new password, `repaired` the one that they had. `unknown` are users
    at the broker of tenants that the database does not have."""

    created: Sequence[str]
    repaired: Sequence[str]
    unknown: Sequence[str]


class RestoreOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`published_seq`: the highest seq that a client is known to have received, 0 if that is not known.
    `despite_differences`: go on although ledger and change log are not sound. `by`: who runs it."""

    by: str
    internal_vhost: str
    published_seq: int = 0
    despite_differences: bool = False
    idle_seconds: float = IDLE_SECONDS


class Restored(msgspec.Struct, frozen=True):
    """What was found and done. `mark` is the seq from which everything is published again; numbers above
    `known.head` and below `mark` belong to what was lost."""

    known: KnownNumbers
    audit: Audit
    vhosts: RebuiltTenants
    mark: int
    ended: Ended
    suspended: Suspended
    tenants_notified: int
    active_keys: int


async def put_in_order(
    store: Store,
    broker: BrokerConfig,
    options: RestoreOptions,
    show_url: ShowUrl,
    show_audit: Callable[[Audit], None] = lambda _: None,
    clock: Clock = system_clock,
) -> Restored:
    """Do it; safe to repeat. Raises `Conflict`, with what to do, when something forbids it: while processes
    of the service are alive, for a database that is not sound or does not fit; `Unavailable` when PostgreSQL
    or the broker is. `store` has one connection."""
    management, vhost = broker.management, options.internal_vhost
    await checks.require_idle(store, management, vhost, seconds=options.idle_seconds)
    known = await checks.require_usable(store, clock())
    found = await checks.audit(store)
    show_audit(found)
    if found.wrong and not options.despite_differences:
        raise Conflict(
            "The database is not sound, and nothing was changed: restore another backup, or go on with "
            "--despite-differences and correct these settlements afterwards (docs/operators.md)."
        )
    vhosts = await rebuild_tenants(store, broker, show_url)
    mark, ended, notified, keys = await _go_on(store, known, options, clock())
    suspended = await suspension.suspend_unfinished(store, clock())
    await checks.require_idle(store, management, vhost, seconds=0)
    return Restored(known, found, vhosts, mark, ended, suspended, notified, keys)


async def _go_on(
    store: Store, known: KnownNumbers, options: RestoreOptions, now: int
) -> tuple[int, Ended, int, int]:
    """The mark, what has ended, how many tenants are to be notified, and how many keys are active."""
    seq = max(known.seq, options.published_seq, seq_at(now))
    match_number = max(known.match_number, match_number_at(now))
    async with store.transaction() as tx:
        mark = await restoration.go_on_from(tx, seq, match_number, now, expelled=True)
        server = await timeline.read(tx)
        change = Change(mark, now, known.head, known.newest_at, options.published_seq, known_at=0)
        await timeline.store(tx, server.present, change)
        ended = await restoration.end_past(tx, now, last_usable_step(now))
        details = {"last_seq": known.head, "last_at": known.newest_at, "next_seq": mark}
        await audit.add(tx, AuditRecord(now, options.by, "database.restored", "database", None, details))
        return mark, ended, await restoration.notified_tenants(tx), await restoration.active_keys(tx)


async def rebuild_tenants(store: Store, broker: BrokerConfig, show_url: ShowUrl) -> RebuiltTenants:
    """Make or repair the vhost and the user of each tenant with AMQP access, and delete the users of former
    feed processes. `show_url` is called as soon as a tenant has a new password. Raises `Unavailable`."""
    present = await broker.management.user_tags()
    await _adopt(store, present, await broker.management.vhosts())
    async with store.autocommit() as tx:
        listed = await tenants.listing(tx)
    provisioned = [tenant for tenant in listed if tenant.amqp]
    created, repaired = list[str](), list[str]()
    for tenant in provisioned:
        if tenant_user(tenant.vhost) in present:
            await _repair(broker, tenant)
            repaired.append(tenant.slug)
        else:
            show_url(tenant.slug, await _create(broker, tenant))
            created.append(tenant.slug)
        async with store.transaction() as tx:
            await tenants.set_broker_access(tx, tenant.id, tenant.active)
    await _expel_publishers(broker, {tenant.vhost for tenant in provisioned})
    ours = {tenant_user(tenant.vhost) for tenant in listed}
    unknown = sorted(user for user in present if is_tenant_user(user) and user not in ours)
    return RebuiltTenants(created, repaired, unknown)


async def _adopt(store: Store, users: Mapping[str, object], vhosts: Collection[str]) -> None:
    """A tenant that was provisioned after the backup has its vhost and password, and must be published to."""
    async with store.transaction() as tx:
        for tenant in await tenants.listing(tx):
            if not tenant.amqp and tenant.vhost in vhosts and tenant_user(tenant.vhost) in users:
                await tenants.save(tx, msgspec.structs.replace(tenant, amqp=True))


async def _repair(broker: BrokerConfig, tenant: Tenant) -> None:
    management = broker.management
    await provisioning.declare_vhost(
        management, tenant.vhost, broker.exchange, broker.address, max_queues=tenant.max_queues
    )
    await broker_users.tag_tenant_user(management, tenant.vhost)
    await _apply_access(broker, tenant)


async def _create(broker: BrokerConfig, tenant: Tenant) -> str:
    url = await broker.provision(tenant.vhost, tenant.max_queues)
    await _apply_access(broker, tenant)
    return url


async def _apply_access(broker: BrokerConfig, tenant: Tenant) -> None:
    if tenant.active:
        await provisioning.apply_permissions(broker.management, tenant.vhost, broker.exchange, broker.mode)
    else:
        await broker_users.revoke_access(broker.management, tenant.vhost)


async def _expel_publishers(broker: BrokerConfig, vhosts: Collection[str]) -> None:
    """Their processes are gone, and nothing that they wrote may reach a queue later."""
    permitted = await broker.management.permissions()
    for user in sorted(
        {user for vhost, user in permitted if vhost in vhosts and user.startswith(PUBLISHER_PREFIX)}
    ):
        await expel_publisher(broker.management, user.removeprefix(PUBLISHER_PREFIX))
