"""What the broker has of each tenant after a restore: vhost, user, permissions."""

from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from app.access.admin import BrokerConfig
from app.broker import provisioning, tenant_access
from app.broker.permissions import is_tenant_user, tenant_user
from app.broker.publisher_users import PREFIX, expel_publisher
from app.domain.tenant import Tenant
from app.store import tenants
from app.store.connections import Store

ShowUrl = Callable[[str, str], None]  #: a tenant's slug, and its AMQP URL with a new password


class RebuiltTenants(msgspec.Struct, frozen=True):
    """Tenants by slug: `created` have a new password, `repaired` the one that they had. `unknown` are users
    at the broker of tenants that the database does not have."""

    created: Sequence[str]
    repaired: Sequence[str]
    unknown: Sequence[str]


async def rebuild(store: Store, broker: BrokerConfig, show_url: ShowUrl) -> RebuiltTenants:
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
    await tenant_access.tag(management, tenant.vhost)
    await _apply_access(broker, tenant)


async def _create(broker: BrokerConfig, tenant: Tenant) -> str:
    url = await broker.provision(tenant.vhost, tenant.max_queues)
    await _apply_access(broker, tenant)
    return url


async def _apply_access(broker: BrokerConfig, tenant: Tenant) -> None:
    if tenant.active:
        await tenant_access.restore(broker.management, tenant.vhost, broker.exchange, broker.mode)
    else:
        await tenant_access.revoke(broker.management, tenant.vhost)


async def _expel_publishers(broker: BrokerConfig, vhosts: Collection[str]) -> None:
    """Their processes are gone, and nothing that they wrote may reach a queue later."""
    permitted = await broker.management.permissions()
    for user in sorted({user for vhost, user in permitted if vhost in vhosts and user.startswith(PREFIX)}):
        await expel_publisher(broker.management, user.removeprefix(PREFIX))
