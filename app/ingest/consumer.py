"""Consumption of log batches: each is applied, or parked if it cannot be.

A queue's next batch comes after the last one's commit (prefetch 1, acknowledged after handling), so a
match's log is applied in order; a queue moves to another worker (`PartitionAssignment`) between two
batches only. While the database is unavailable the batch waits here, and after some minutes returns to the
head of its queue. A batch that fails repeatedly although the database is healthy is parked, its match is
suspended, and the others continue. Batches that waited for it may be at fault instead: after the first
failure it is tried without them, and they are applied after it, one by one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

import msgspec
from aio_pika import IncomingMessage
from aiormq.abc import DeliveredMessage
from faststream import AckPolicy
from faststream.rabbit import Channel, RabbitBroker, RabbitMessage

from app.ingest import log_update, lost_lines
from app.ingest.batches import Batch, from_message
from app.ingest.log_update import IngestConfig
from app.ingest.lost_lines import ATTEMPTS, RETRY_SECONDS, is_database_healthy
from app.ingest.queues import FAILURES, PARTITIONS, IngestQueues, name_of
from app.kit import metrics
from app.kit.clock import Clock
from app.kit.errors import NotFound, Unavailable
from app.kit.logging import bind, get_logger
from app.store.connections import Store

_TIMEOUT_SECONDS = 300.0
_DATABASE_RETRY_SECONDS = 0.5
Handler = Callable[[Batch], Awaitable[None]]
Consume = Callable[[IncomingMessage], Awaitable[object]]
log = get_logger(__name__)


class PartitionAssignment:
    """The queues that worker `name` should leave to others, as of the last `rebalance`: several workers share
    the queues, and none only stands by.

    A queue has one active consumer at the broker: the first, until it goes. So every worker consumes from
    every queue, which makes it a stand-by for all the others, and yields its turn in a queue that is assigned
    to another living worker by moving to the end of the queue's consumers. If workers disagree for a moment
    about the assignment, a queue moves once more: one batch at a time, in order, does not depend on it.

    Consumer priorities (`x-priority`) alone would move no queue: the broker (3.10) regards them only when the
    active consumer goes, and they are fixed when a consumer subscribes.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._to_yield: set[int] = set()  #: assigned to others by the last `rebalance`, and not yielded since

    def rebalance(self, living: Iterable[str]) -> None:
        """Assign the queues to all living workers, this one included, in turn."""
        workers = sorted({*living, self.name})
        self._to_yield = {queue for queue in range(PARTITIONS) if workers[queue % len(workers)] != self.name}

    def should_yield(self, queue: int) -> bool:
        """Whether to yield the turn in `queue` now: once for each `rebalance` that assigned it to another."""
        if queue not in self._to_yield:
            return False
        self._to_yield.discard(queue)
        return True


class Consumer:
    """Applies batches to one store."""

    def __init__(self, store: Store, config: IngestConfig, clock: Clock) -> None:
        self._store = store
        self._config = config
        self._clock = clock

    async def handle(self, batch: Batch) -> None:
        """Apply the batch or park it; raises `TimeoutError` after minutes without a database."""
        with bind(match_id=str(batch.match_id), message_id=batch.id):
            try:
                async with asyncio.timeout(_TIMEOUT_SECONDS):
                    outcome = await self._apply_or_park(batch)
            except Exception as error:
                log.error("a log batch returns to the head of its queue", error=repr(error))
                raise
        metrics.log_batches.labels(outcome).inc()
        metrics.log_batch_wait.observe(max(0, self._clock() - batch.arrived_at) / 1000)

    async def _apply_or_park(self, batch: Batch) -> str:
        outcome, has_failed = await self._attempt(batch)
        if has_failed:
            await lost_lines.apply_pending(self._store, batch.match_id, self._clock(), self._config)
        return outcome

    async def _attempt(self, batch: Batch) -> tuple[str, bool]:
        """The outcome, and whether the batch failed before, so that pending ranges were left as they were."""
        failures, has_failed = 0, False
        while True:
            try:
                outcome = await log_update.apply_batch(
                    self._store, batch, self._clock(), self._config, with_pending=not has_failed
                )
                return outcome, has_failed
            except NotFound:
                log.warning("a log batch belongs to a match that does not exist any more")
                return "orphan", False
            except Unavailable as error:
                log.warning("a log batch waits for the database", error=error.detail)
                await asyncio.sleep(_DATABASE_RETRY_SECONDS)
            except Exception as error:
                has_failed = True
                failures += await is_database_healthy(self._store)
                log.exception("a log batch cannot be applied", failures=failures)
                if failures == ATTEMPTS:
                    await lost_lines.park(self._store, batch, repr(error), self._clock(), self._config)
                    return "parked", has_failed
                await asyncio.sleep(RETRY_SECONDS)


def subscribe(queues: IngestQueues, handle: Handler, assignment: PartitionAssignment) -> None:
    """Call `handle` for every batch, one at a time a queue. Subscribe before the queues are connected."""

    def add(broker: RabbitBroker) -> None:
        for number in range(PARTITIONS):
            subscriber = broker.subscriber(
                queues.queue(number),
                channel=Channel(prefetch_count=1),
                ack_policy=AckPolicy.NACK_ON_ERROR,
                decoder=_undecoded,
            )
            subscriber(_receiver(number, handle, assignment, subscriber.consume))

    queues.subscribe(add)


def _receiver(
    number: int, handle: Handler, assignment: PartitionAssignment, consume: Consume
) -> Callable[[RabbitMessage], Awaitable[None]]:
    async def receive(message: RabbitMessage) -> None:
        try:
            batch = from_message(message.message_id, message.headers, message.body)
        except msgspec.ValidationError as error:
            log.error("a message on an ingest queue is not a log batch", error=str(error))
            return
        await handle(batch)
        if assignment.should_yield(number):
            await _move_to_end(number, message, consume)

    return receive


async def _move_to_end(number: int, message: RabbitMessage, consume: Consume) -> None:
    """Cancel this worker's consumer and subscribe it again, behind the queue's other consumers.

    Done before the applied batch is acknowledged: until then nothing else is delivered here, so nothing needs
    to be requeued. The channel is used directly because a FastStream subscriber cannot be stopped from its
    own handler.
    """
    channel, tag = message.raw_message.channel, message.raw_message.consumer_tag

    async def deliver(delivered: DeliveredMessage) -> None:
        await consume(IncomingMessage(delivered))

    try:
        await channel.basic_cancel(tag or "")
        await channel.basic_consume(name_of(number), deliver, consumer_tag=tag)
    except FAILURES as error:
        log.warning("could not yield a queue: its connection failed", queue=number, error=repr(error))


async def _undecoded(message: RabbitMessage) -> RabbitMessage:
    return message
