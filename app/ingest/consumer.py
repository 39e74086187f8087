"""What the worker does with each batch: apply it, or find out why it cannot be applied.

A queue's next batch comes after the last one's commit (prefetch 1, acknowledged after handling), so a
match's log is applied in order; where a queue changes hands (`share`), that is between two batches. While
the database is away nothing is given up: the batch waits here, and after a while goes back to the head of
its queue. A batch that fails again and again although the database is healthy is laid aside, its match
suspended, and the others go on.
"""

import asyncio
from collections.abc import Awaitable, Callable

import aiormq
import msgspec
from faststream import AckPolicy
from faststream.rabbit import Channel, RabbitMessage

from app.ingest import apply, watch
from app.ingest.batch import Batch, from_message
from app.ingest.config import IngestConfig
from app.ingest.queues import FAILURES, PARTITIONS, Queues, queue
from app.ingest.share import Share
from app.kit import metrics
from app.kit.clock import Clock
from app.kit.errors import NotFound, Unavailable
from app.kit.logging import bind, get_logger
from app.store.connections import Store

ATTEMPTS = 5
_PATIENCE_SECONDS = 300.0
_PAUSE_SECONDS = 0.1
_AWAY_SECONDS = 0.5
log = get_logger(__name__)
Handler = Callable[[Batch], Awaitable[None]]


class Consumer:
    """Applies batches to one store."""

    def __init__(self, store: Store, terms: IngestConfig, clock: Clock) -> None:
        self._store = store
        self._terms = terms
        self._clock = clock

    async def handle(self, batch: Batch) -> None:
        """Apply the batch or lay it aside; raises `TimeoutError` after minutes without a database."""
        with bind(match_id=str(batch.match_id), message_id=batch.id):
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    outcome = await self._settle(batch)
            except Exception as error:
                log.error("a log batch goes back to the head of its queue", error=repr(error))
                raise
        metrics.log_batches.labels(outcome).inc()
        metrics.log_batch_wait.observe(max(0, self._clock() - batch.arrived_at) / 1000)

    async def _settle(self, batch: Batch) -> str:
        failures = 0
        while True:
            try:
                return await apply.apply(self._store, batch, self._clock(), self._terms)
            except NotFound:
                log.warning("a log batch is of a match that is gone")
                return "orphan"
            except Unavailable as error:
                log.warning("a log batch waits for the database", error=error.detail)
                await asyncio.sleep(_AWAY_SECONDS)
            except Exception as error:
                failures += await self._is_to_blame()
                log.exception("a log batch cannot be applied", failures=failures)
                if failures == ATTEMPTS:
                    await watch.park(self._store, batch, repr(error), self._clock())
                    return "parked"
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _is_to_blame(self) -> bool:
        """Whether the batch and not the database is what fails."""
        try:
            await self._store.check()
        except Unavailable:
            return False
        return True


def subscribe(queues: Queues, handle: Handler, share: Share) -> None:
    """Have `handle` called for every batch, one at a time a queue, before the queues are connected."""
    for number in range(PARTITIONS):
        subscriber = queues.broker.subscriber(
            queue(number),
            channel=Channel(prefetch_count=1),
            ack_policy=AckPolicy.NACK_ON_ERROR,
            decoder=_undecoded,
        )
        subscriber(_receiver(number, handle, share))


def _receiver(number: int, handle: Handler, share: Share) -> Callable[[RabbitMessage], Awaitable[None]]:
    async def receive(message: RabbitMessage) -> None:
        try:
            batch = from_message(message.message_id, message.headers, message.body)
        except msgspec.ValidationError as error:
            log.error("a message on an ingest queue is no log batch", error=str(error))
            return
        await handle(batch)
        if share.gives_up(number):
            await _go_to_the_tail(number, message)

    return receive


async def _go_to_the_tail(number: int, message: RabbitMessage) -> None:
    """Let whoever waits for the queue have the next batch, and wait behind them.

    Done before the batch in hand, which is applied, is acknowledged: so long nothing else comes here, and
    nothing needs to go back. The channel is asked because FastStream cannot stop a subscriber from within.
    """
    channel, tag = message.raw_message.channel, message.raw_message.consumer_tag or ""
    assert isinstance(channel, aiormq.Channel)
    called = channel.consumers.get(tag)
    if called is None:
        return  # the connection was lost meanwhile, and with it the turn
    try:
        await channel.basic_cancel(tag)
        await channel.basic_consume(queue(number).name, called, consumer_tag=tag)
    except FAILURES as error:
        log.warning("a queue's turn is given up with its connection", queue=number, error=repr(error))


async def _undecoded(message: RabbitMessage) -> RabbitMessage:
    return message
