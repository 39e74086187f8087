"""What a demo leaves on servers that are not its own, and how it is removed (`--reset`)."""

import asyncio
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from app.broker import provisioning
from app.broker.management import Management
from app.cli.demo import DEMO_TENANTS
from scripts.services import Services

from .places import DATABASE, INTERNAL_VHOST


def database_url(found: Services) -> str:
    """The demo's own database, whatever else lives on that server."""
    return _database(found, DATABASE)


def remove(found: Services) -> None:
    """Drop the demo's database and vhosts."""
    asyncio.run(_remove(found))


async def _remove(found: Services) -> None:
    connection = await asyncpg.connect(_database(found, "postgres"), timeout=10)
    try:
        await connection.execute(f'DROP DATABASE IF EXISTS "{DATABASE}" WITH (FORCE)')
    finally:
        await connection.close()
    async with Management(found.rabbitmq_api_url) as management:
        for tenant in DEMO_TENANTS:
            if tenant.amqp:
                await provisioning.withdraw(management, tenant.slug)
        await management.delete_vhost(INTERNAL_VHOST)


def _database(found: Services, name: str) -> str:
    return urlunsplit(urlsplit(found.database_url)._replace(path=f"/{name}"))
