"""What a run makes for itself: a database, and keys in it; a vhost."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from app.access import admin
from app.access.api_keys import KeyProperties
from app.broker.management import Management
from app.settings import Settings
from app.store.connections import Store
from app.store.migrations import migrate
from scripts.local_services.postgresql import named, value


@asynccontextmanager
async def database(settings: Settings) -> AsyncIterator[Settings]:
    """The settings, with a migrated database of our own, dropped afterwards; only errors are logged."""
    name = f"matchfeed_bench_{secrets.token_hex(4)}"
    url = named(settings.database_url, name)
    await migrate(url)
    try:
        yield replace(settings, database_url=url, log_level="ERROR")
    finally:
        await value(named(url, "postgres"), f"DROP DATABASE {name} WITH (FORCE)")


@asynccontextmanager
async def internal_vhost(settings: Settings, prefix: str = "bench") -> AsyncIterator[Settings]:
    """The settings, with a vhost of our own for the internal queues."""
    async with Management(settings.rabbitmq_api_url) as management, vhost(management, prefix) as name:
        yield replace(settings, rabbitmq_internal_vhost=name)


@asynccontextmanager
async def vhost(management: Management, prefix: str = "bench") -> AsyncIterator[str]:
    """A vhost in which we may do everything, deleted afterwards."""
    name = f"{prefix}-{secrets.token_hex(4)}"
    await management.put_vhost(name)
    await management.set_permissions(name, management.user, configure=".*", write=".*", read=".*")
    try:
        yield name
    finally:
        await management.delete_vhost(name)


async def issue_key(store: Store, settings: Settings, properties: KeyProperties, slug: str = "bench") -> str:
    """A key of a tenant, which is created if there is none."""
    async with store.transaction() as tx:
        await admin.create_tenant(tx, slug, slug.title(), by="bench", now=1)
        issued = await admin.issue_key(tx, slug, properties, secret=settings.secret_key, by="bench", now=1)
    return issued.raw


async def operator_key(settings: Settings, store: Store) -> str:
    """A key of our own house that may do what operators do."""
    return await issue_key(store, settings, KeyProperties(bundles=("cs2.operator",)), "house")
