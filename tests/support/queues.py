"""Internal queues of one test's own."""

from contextlib import AbstractAsyncContextManager

import msgspec

from app.ingest.queues import IngestQueues, QueueConfig
from app.settings import Settings
from scripts.bench.own_data import internal_vhost


def private_vhost(settings: Settings) -> AbstractAsyncContextManager[Settings]:
    """The settings, with a vhost of their own for internal queues, deleted afterwards."""
    return internal_vhost(settings, "matchfeed-test")


def queues_of(settings: Settings) -> IngestQueues:
    return IngestQueues(msgspec.convert(settings, QueueConfig, from_attributes=True))


async def empty() -> bool:
    """For checks that wait until no batch is queued, where none ever is."""
    return True
