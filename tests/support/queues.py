"""Internal queues of one test's own."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from msgspec.structs import replace

from app.broker.management import Management
from app.ingest.queues import IngestQueues, QueueConfig
from app.settings import Settings


@asynccontextmanager
async def private_vhost(settings: Settings) -> AsyncIterator[Settings]:
    """The settings, with a vhost of their own for internal queues, deleted afterwards."""
    name = f"matchfeed-test-{secrets.token_hex(4)}"
    async with Management(settings.rabbitmq_api_url) as management:
        await management.put_vhost(name)
        await management.set_permissions(name, management.user, configure=".*", write=".*", read=".*")
        try:
            yield replace(settings, rabbitmq_internal_vhost=name)
        finally:
            await management.delete_vhost(name)


def queues_of(settings: Settings) -> IngestQueues:
    return IngestQueues(msgspec.convert(settings, QueueConfig, from_attributes=True))


async def empty() -> bool:
    """For checks that wait until no batch is queued, where none ever is."""
    return True
