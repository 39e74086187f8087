"""Internal queues of one test's own."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import msgspec

from app.ingest.batches import Batch
from app.ingest.consumer import PartitionAssignment, subscribe
from app.ingest.queues import IngestQueues, QueueConfig
from app.settings import Settings
from scripts.lab.own_data import internal_vhost


def private_vhost(settings: Settings) -> AbstractAsyncContextManager[Settings]:
    """The settings, with a vhost of their own for internal queues, deleted afterwards."""
    return internal_vhost(settings, "matchfeed-test")


def queues_of(settings: Settings) -> IngestQueues:
    return IngestQueues(msgspec.convert(settings, QueueConfig, from_attributes=True))


def consumer_of(settings: Settings, handle: Callable[[Batch], Awaitable[None]]) -> IngestQueues:
    """Queues whose batches a worker handles so that has all of them."""
    queues = queues_of(settings)
    subscribe(queues, handle, PartitionAssignment("w1"))
    return queues


def taking(settings: Settings) -> tuple[IngestQueues, list[Batch]]:
    """Queues whose batches a worker takes, and those that it has taken."""
    taken: list[Batch] = []

    async def take(batch: Batch) -> None:
        taken.append(batch)

    return consumer_of(settings, take), taken


async def empty() -> bool:
    """For checks that wait until no batch is queued, where none ever is."""
    return True
