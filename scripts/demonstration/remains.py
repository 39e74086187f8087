"""What a demo has on servers that others may share: names of its own, a claim on its tenants' vhosts, and
how all of it is removed.

A tenant's vhost is named after the tenant, so one broker has room for one demo at a time. Whoever runs says
so by a vhost (`places.CLAIM`); vhosts that are not ours by that are left alone.
"""

import asyncio
from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from app.broker import provisioning
from app.broker.management import Management
from app.kit.errors import Refusal
from app.sandbox.demo_tenants import BOARD, DEMO_TENANTS
from scripts.housekeeping.processes import ServiceError
from scripts.services import Services

from .places import CLAIM, DATABASE, INTERNAL_VHOST

TENANTS = tuple(tenant.slug for tenant in (*DEMO_TENANTS, BOARD) if tenant.amqp)


def database_url(found: Services) -> str:
    """The demo's own database, whatever else lives on that server."""
    return _database(found, DATABASE)


def claim(found: Services) -> None:
    """Say that the tenants' vhosts are ours; `ServiceError` when they are somebody else's."""
    asyncio.run(_claim(found))


def release(found: Services) -> None:
    """Take our tenants' vhosts away, so that another demo may run here. What cannot be reached stays."""
    asyncio.run(_release(found))


def remove(found: Services) -> None:
    """Drop the demo's database and vhosts."""
    asyncio.run(_remove(found))


async def _claim(found: Services) -> None:
    try:
        async with Management(found.rabbitmq_api_url) as management:
            others = await claimed(management, CLAIM, TENANTS)
    except Refusal as error:
        raise ServiceError(str(error)) from error
    if others:
        raise ServiceError(
            f"the RabbitMQ at {urlsplit(found.rabbitmq_api_url).hostname} has vhosts that are not this "
            f"demo's ({', '.join(others)}); end the demo of the other checkout, or set RABBITMQ_URL to a "
            "free port to have a private server"
        )


async def claimed(management: Management, claim: str, tenants: Sequence[str]) -> list[str]:
    """Claim these tenants' vhosts; those that somebody else has when they cannot be."""
    there = await management.vhosts()
    if claim not in there and (others := [tenant for tenant in tenants if tenant in there]):
        return others
    await management.put_vhost(claim)
    return []


async def released(management: Management, claim: str, tenants: Sequence[str]) -> None:
    """Withdraw the tenants, unless they are somebody else's."""
    if claim in await management.vhosts():
        for tenant in tenants:
            await provisioning.deprovision(management, tenant)
        await management.delete_vhost(claim)


async def _release(found: Services) -> None:
    try:
        async with Management(found.rabbitmq_api_url) as management:
            await released(management, CLAIM, TENANTS)
    except Refusal:
        return


async def _remove(found: Services) -> None:
    connection = await asyncpg.connect(_database(found, "postgres"), timeout=10)
    try:
        await connection.execute(f'DROP DATABASE IF EXISTS "{DATABASE}" WITH (FORCE)')
    finally:
        await connection.close()
    async with Management(found.rabbitmq_api_url) as management:
        await released(management, CLAIM, TENANTS)
        await management.delete_vhost(INTERNAL_VHOST)


def _database(found: Services, name: str) -> str:
    return urlunsplit(urlsplit(found.database_url)._replace(path=f"/{name}"))
