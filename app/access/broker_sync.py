"""Synchronising tenants' access with the broker: revoked tenants lose it, reactivated ones get it back.

A change of a tenant writes its row only. The row holds the decision (`active`) and what the broker was set to
last (`broker_access_applied`); where they differ, the processes that run `run` (every feed and web process)
change the broker, woken by the change's notification and retrying while the broker is down. Doing it twice is
harmless. So a revocation survives any outage, and any process may end at any moment.
"""

import asyncio
import time
from collections.abc import Awaitable, Iterable, Mapping

import msgspec

from app.broker import broker_users, permissions, provisioning
from app.broker.broker_users import client_users
from app.broker.management import Management
from app.broker.permissions import AuthorisationMode, Permission, TopicPermission
from app.domain.tenant import Tenant
from app.kit.background import wait_for_event
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import heartbeats, notifications, tenants
from app.store.connections import Store

_POLL_SECONDS = 5.0
_RETRY_SECONDS = 0.5
_REPAIR_SECONDS = 60.0
log = get_logger(__name__)


class BrokerAccessConfig(msgspec.Struct, frozen=True):
    """How tenants access the broker: the exchange that they read and how permissions are applied."""

    exchange: str
    mode: AuthorisationMode


async def run(store: Store, management: Management, config: BrokerAccessConfig) -> None:
    """Apply every change of tenants' access to the broker, until cancelled."""
    changed, repaired_at, notified = asyncio.Event(), float("-inf"), False
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(notifications.set_at_each(store, notifications.TENANTS, changed))
        while True:
            changed.clear()
            applied = await _apply_pending(store, management, config)
            if notified:
                failed = "the number of queues of tenants could not be applied"
                applied = await _try(failed, _limit_all_queues(store, management)) and applied
            if time.monotonic() - repaired_at >= _REPAIR_SECONDS:
                failed = "permissions of tenants at the broker could not be checked"
                if await _try(failed, repair(store, management, config)):
                    repaired_at = time.monotonic()
            notified = await wait_for_event(changed, _POLL_SECONDS if applied else _RETRY_SECONDS)


async def repair(store: Store, management: Management, config: BrokerAccessConfig) -> list[str]:
    """Correct the permissions, limits and exchanges for SDKs of every tenant for which the broker has others;
    the slugs of those tenants. Their connections are closed, since a channel caches permissions, and since a
    client whose exchange was deleted has no bindings any more.

    Processes of version 0.2.0 undo what lets a tenant read replays: it is added once none is alive, and then
    without closing connections, because a channel does not cache refusals. Raises `Unavailable`."""
    replays = await _adds_replays(store)
    provisioned = await _provisioned(store)
    if not provisioned:
        return []
    await _limit_queues(management, provisioned)
    differing = await differing_tenants(management, provisioned, config, replays=replays)
    # The permissions come last: as long as they are the former ones, an interrupted repair is begun anew.
    without = await _restore_exchanges(management, provisioned, config.exchange, replays=replays)
    extended = set[str]()
    for tenant, present in differing.items():
        if not present.tagged:
            await broker_users.tag_tenant_user(management, tenant.vhost)
        await _set_access(management, tenant, config, replays=replays)
        if tenant.active and present == _expected(tenant, config, replays=False):
            extended.add(tenant.slug)
            log.info("a tenant may read replays now", tenant=tenant.slug)
            continue
        if tenant.active:
            user = permissions.tenant_user(tenant.vhost)
            await management.close_user_connections(user, "the rights of this user have changed")
        log.warning("a tenant had other rights at the broker than it should", tenant=tenant.slug)
    return sorted({tenant.slug for tenant in differing} - extended | without)


async def _adds_replays(store: Store) -> bool:
    """Whether no process of version 0.2.0 is alive, which would close the connections of a tenant that may
    read replays."""
    async with store.autocommit() as tx:
        return await heartbeats.lowest_compatibility(tx) >= heartbeats.COMPATIBILITY_LEVEL


async def _provisioned(store: Store) -> list[Tenant]:
    async with store.autocommit() as tx:
        return [tenant for tenant in await tenants.listing(tx) if tenant.amqp]


async def _limit_queues(management: Management, provisioned: Iterable[Tenant]) -> None:
    """Set the number of queues of the tenants for which the broker has another."""
    present = await management.vhost_limits()
    for tenant in provisioned:
        if present.get(tenant.vhost) != provisioning.vhost_limits(tenant.max_queues):
            await provisioning.limit_queues(management, tenant.vhost, tenant.max_queues)


async def differing_tenants(
    management: Management,
    provisioned: Iterable[Tenant],
    config: BrokerAccessConfig,
    *,
    replays: bool = True,
) -> dict[Tenant, "TenantPermissions"]:
    """The tenants whose permissions or limits at the broker are not what they should be, with those that they
    have. Unless `replays`, those that version 0.2.0 sets are right, too. Raises `Unavailable`."""
    present = await _broker_permissions(management)
    found = {tenant: present.of(tenant) for tenant in provisioned}
    accepted = (True,) if replays else (True, False)
    return {
        tenant: its
        for tenant, its in found.items()
        if all(its != _expected(tenant, config, replays=one) for one in accepted)
    }


async def _restore_exchanges(
    management: Management, tenants: Iterable[Tenant], exchange: str, *, replays: bool
) -> set[str]:
    """Restore the exchanges for SDKs where they are not as we declare them; the slugs of those tenants. That
    of `replays` is added where it is missing, which disturbs nobody."""
    listed, without = await management.exchanges(), set()
    for tenant in tenants:
        vhost = tenant.vhost
        if replays and provisioning.lacks_replay_exchange(listed, vhost):
            await provisioning.declare_replay_exchange(management, vhost)
        if await provisioning.has_client_exchanges(management, listed, vhost, exchange):
            continue
        await provisioning.restore_client_exchanges(management, vhost, exchange)
        for user in await client_users(management, vhost):
            await management.close_user_connections(user, "the exchanges of this vhost were restored")
        log.warning("a tenant lacked an exchange for SDKs", tenant=tenant.slug)
        without.add(tenant.slug)
    return without


async def apply(store: Store, management: Management, tenant: Tenant, config: BrokerAccessConfig) -> None:
    """Apply one tenant's access to the broker. Raises `Unavailable`."""
    await _set_access(management, tenant, config, replays=await _adds_replays(store))
    async with store.transaction() as tx:
        await tenants.set_broker_access(tx, tenant.id, tenant.active)
    log.info("tenant access applied to the broker", tenant=tenant.slug, admitted=tenant.active)


async def _set_access(
    management: Management, tenant: Tenant, config: BrokerAccessConfig, *, replays: bool
) -> None:
    if tenant.active:
        await provisioning.apply_permissions(
            management, tenant.vhost, config.exchange, config.mode, replays=replays
        )
    else:
        await broker_users.revoke_access(management, tenant.vhost)


class TenantPermissions(msgspec.Struct, frozen=True):
    """One tenant's permissions and limits at the broker."""

    permission: Permission | None
    topics: frozenset[TopicPermission]
    limits: Mapping[str, int]
    tagged: bool = True


class _BrokerPermissions(msgspec.Struct, frozen=True):
    """The permissions and limits of all users at the broker."""

    permissions: Mapping[tuple[str, str], Permission]
    topics: Mapping[tuple[str, str], frozenset[TopicPermission]]
    limits: Mapping[str, Mapping[str, int]]
    tags: Mapping[str, tuple[str, ...]]

    def of(self, tenant: Tenant) -> TenantPermissions:
        user = permissions.tenant_user(tenant.vhost)
        where = tenant.vhost, user
        return TenantPermissions(
            self.permissions.get(where),
            self.topics.get(where, frozenset()),
            self.limits.get(user, {}),
            self.tags.get(user) == (permissions.TENANT_TAG,),
        )


async def _broker_permissions(management: Management) -> _BrokerPermissions:
    return _BrokerPermissions(
        await management.permissions(),
        await management.topic_permissions(),
        await management.user_limits(),
        await management.user_tags(),
    )


def _expected(tenant: Tenant, config: BrokerAccessConfig, *, replays: bool) -> TenantPermissions:
    """What the broker should have for the tenant, which may read `replays` or may not yet."""
    if not tenant.active:
        return TenantPermissions(None, frozenset(), provisioning.USER_LIMITS | broker_users.REVOKED_LIMITS)
    return TenantPermissions(
        permissions.permission(config.exchange, config.mode, replays=replays),
        permissions.topic_permissions(config.exchange, config.mode, replays=replays),
        provisioning.USER_LIMITS,
    )


async def _apply_pending(store: Store, management: Management, config: BrokerAccessConfig) -> bool:
    """Apply every pending change to the broker; whether all succeeded."""
    try:
        async with store.autocommit() as tx:
            pending = await tenants.broker_access_pending(tx)
    except Unavailable as error:
        log.warning("pending tenant access could not be read", error=error.detail)
        return False
    failed = "tenant access could not be applied to the broker"
    return all([await _try(failed, apply(store, management, each, config), each.slug) for each in pending])


async def _limit_all_queues(store: Store, management: Management) -> None:
    if provisioned := await _provisioned(store):
        await _limit_queues(management, provisioned)


async def _try(failed: str, work: Awaitable[object], tenant: str = "") -> bool:
    """Whether the work succeeded; a broker or a database that is away is logged."""
    try:
        await work
    except Unavailable as error:
        log.warning(failed, error=error.detail, **({"tenant": tenant} if tenant else {}))
        return False
    return True
