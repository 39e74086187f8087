"""Keeping the broker in step: a tenant that is revoked is let in no more, and one taken back is again.

Whoever changes a tenant changes its row only. The row says what was decided and what the broker was told
last; where the two differ, the processes that run `keep` (every feed and web process) tell the broker, woken
by the change's signal and trying again while the broker is away. Telling it twice does no harm. So a
revocation outlives any outage, and any process may end at any moment.
"""

import asyncio
import time
from collections.abc import Mapping

import msgspec

from app.broker import permissions, provisioning, tenant_access
from app.broker.management import Management
from app.broker.permissions import AuthorisationMode, Permission, TopicPermission
from app.domain.tenant import Tenant
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.retry import wait_for_event
from app.store import notifications, tenants
from app.store.connections import Store

_LOOK_SECONDS = 5.0
_RETRY_SECONDS = 0.5
_REPAIR_SECONDS = 60.0
log = get_logger(__name__)


class BrokerAccessConfig(msgspec.Struct, frozen=True):
    """How tenants get into the broker: by which rights, and to read which exchange."""

    exchange: str
    mode: AuthorisationMode


async def run(store: Store, management: Management, entry: BrokerAccessConfig) -> None:
    """Tell the broker whom to let in, whenever that changes, until cancelled."""
    changed, repaired_at = asyncio.Event(), float("-inf")
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_listen(store, changed))
        while True:
            changed.clear()
            settled = await _apply_pending(store, management, entry)
            due = time.monotonic() - repaired_at >= _REPAIR_SECONDS
            if due and await _try_repair(store, management, entry):
                repaired_at = time.monotonic()
            await wait_for_event(changed, _LOOK_SECONDS if settled else _RETRY_SECONDS)


async def repair(store: Store, management: Management, entry: BrokerAccessConfig) -> list[str]:
    """Give every tenant the rights and limits that it should have, where the broker has others; the slugs of
    those tenants. Their connections end, for each keeps the rights with which it was opened. Raises
    `Unavailable`."""
    async with store.reading() as tx:
        provisioned = [tenant for tenant in await tenants.listing(tx) if tenant.amqp]
    held = await _broker_permissions(management)
    differing = [tenant for tenant in provisioned if held.of(tenant) != _expected(tenant, entry)]
    for tenant in differing:
        if tenant.active:
            await tenant_access.restore(management, tenant.slug, entry.exchange, entry.mode)
            await tenant_access.close_connections(
                management, tenant.slug, "the rights of this user have changed"
            )
        else:
            await tenant_access.revoke(management, tenant.slug)
        log.warning("a tenant had other rights at the broker than it should", tenant=tenant.slug)
    return [tenant.slug for tenant in differing]


async def apply(store: Store, management: Management, tenant: Tenant, entry: BrokerAccessConfig) -> None:
    """Tell the broker about one tenant. Raises `Unavailable`."""
    if tenant.active:
        await tenant_access.restore(management, tenant.slug, entry.exchange, entry.mode)
    else:
        await tenant_access.revoke(management, tenant.slug)
    async with store.transaction() as tx:
        await tenants.set_admitted(tx, tenant.id, tenant.active)
    log.info("the broker was told", tenant=tenant.slug, admitted=tenant.active)


class _TenantPermissions(msgspec.Struct, frozen=True):
    """What one tenant may do at the broker, by its own permissions and limits."""

    permission: Permission | None
    topics: TopicPermission | None
    limits: Mapping[str, int]


class _BrokerPermissions(msgspec.Struct, frozen=True):
    """What the broker has of all users."""

    permissions: Mapping[tuple[str, str], Permission]
    topics: Mapping[tuple[str, str], TopicPermission]
    limits: Mapping[str, Mapping[str, int]]

    def of(self, tenant: Tenant) -> _TenantPermissions:
        user = permissions.tenant_user(tenant.slug)
        where = tenant.slug, user
        return _TenantPermissions(
            self.permissions.get(where), self.topics.get(where), self.limits.get(user, {})
        )


async def _broker_permissions(management: Management) -> _BrokerPermissions:
    return _BrokerPermissions(
        await management.permissions(), await management.topic_permissions(), await management.user_limits()
    )


def _expected(tenant: Tenant, entry: BrokerAccessConfig) -> _TenantPermissions:
    """What the tenant should be able to do."""
    if not tenant.active:
        return _TenantPermissions(None, None, provisioning.USER_LIMITS | tenant_access.REVOKED_LIMITS)
    return _TenantPermissions(
        permissions.permission(tenant.slug, entry.exchange, entry.mode),
        permissions.topic_permission(entry.exchange, entry.mode),
        provisioning.USER_LIMITS,
    )


async def _try_repair(store: Store, management: Management, entry: BrokerAccessConfig) -> bool:
    try:
        await repair(store, management, entry)
    except Unavailable as error:
        log.warning("the rights of tenants at the broker cannot be compared", error=error.detail)
        return False
    return True


async def _apply_pending(store: Store, management: Management, entry: BrokerAccessConfig) -> bool:
    """Tell the broker all that it has not been told; whether that worked."""
    try:
        async with store.reading() as tx:
            pending = await tenants.admission_pending(tx)
    except Unavailable as error:
        log.warning("admission to the broker cannot be looked up", error=error.detail)
        return False
    return all([await _try_apply(store, management, tenant, entry) for tenant in pending])


async def _try_apply(store: Store, management: Management, tenant: Tenant, entry: BrokerAccessConfig) -> bool:
    try:
        await apply(store, management, tenant, entry)
    except Unavailable as error:
        log.warning("the broker could not be told", tenant=tenant.slug, error=error.detail)
        return False
    return True


async def _listen(store: Store, changed: asyncio.Event) -> None:
    async for _ in notifications.listen(store, notifications.TENANTS):
        changed.set()
