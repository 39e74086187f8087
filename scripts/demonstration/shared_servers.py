"""What a demo has on servers that others may share: names of its own, a claim on its tenants' vhosts, and
how all of it is removed.

A tenant's vhost is named after the tenant, so one broker has room for one demo at a time. A running demo
marks them as its own by another vhost (`paths.CLAIM`); vhosts that are not so marked are left alone.
"""

from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from app.broker import provisioning
from app.broker.management import Management
from app.kit.errors import Refusal
from app.sandbox.demo_tenants import BOARD, DEMO_TENANTS
from scripts.local_services import postgresql
from scripts.local_services.processes import ServiceError
from scripts.services import Services

from .paths import CLAIM, DATABASE, INTERNAL_VHOST

TENANTS = tuple(tenant.slug for tenant in (*DEMO_TENANTS, BOARD) if tenant.amqp)


async def claim(found: Services, *, reset: bool) -> None:
    """Claim the tenants' vhosts, with `reset` after removing what an earlier demo has there; `ServiceError`
    when they belong to another demo."""
    try:
        async with Management(found.rabbitmq_api_url) as management:
            if reset:
                await release_vhosts(management, CLAIM, TENANTS)
                await management.delete_vhost(INTERNAL_VHOST)
            others = await claim_vhosts(management, CLAIM, TENANTS)
    except Refusal as error:
        raise ServiceError(str(error)) from error
    if others:
        raise ServiceError(
            f"the RabbitMQ at {urlsplit(found.rabbitmq_api_url).hostname} has vhosts that are not this "
            f"demo's ({', '.join(others)}); end the demo of the other checkout, or set RABBITMQ_URL to a "
            "free port to have a private server"
        )


async def claim_vhosts(management: Management, claim: str, tenants: Sequence[str]) -> list[str]:
    """Claim these tenants' vhosts; if they cannot be claimed, those that another demo has."""
    there = await management.vhosts()
    if claim not in there and (others := [tenant for tenant in tenants if tenant in there]):
        return others
    await management.put_vhost(claim)
    return []


async def release_vhosts(management: Management, claim: str, tenants: Sequence[str]) -> None:
    """Remove the tenants' vhosts, unless they are another demo's."""
    if claim in await management.vhosts():
        for tenant in tenants:
            await provisioning.deprovision(management, tenant)
        await management.delete_vhost(claim)


async def release(found: Services) -> None:
    """Remove our tenants' vhosts, so that another demo may run here. An unreachable broker is left as it
    is."""
    with suppress(Refusal):
        async with Management(found.rabbitmq_api_url) as management:
            await release_vhosts(management, CLAIM, TENANTS)


async def drop_database(found: Services) -> None:
    """Drop the demo's database."""
    server = postgresql.named(found.database_url, "postgres")
    await postgresql.value(server, f'DROP DATABASE IF EXISTS "{DATABASE}" WITH (FORCE)', seconds=10)
