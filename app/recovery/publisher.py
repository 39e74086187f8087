"""Publishes one run of a recovery to the tenant's vhost, every message confirmed."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from app.amqp.confirmed_channel import ConfirmedChannel, Unroutable
from app.amqp.connection import BrokerError
from app.amqp.envelope import EnvelopeRenderer, MatchMessage
from app.amqp.frames import AmqpMessage
from app.amqp.publishers import FeedPublishers
from app.domain.recovery import RecoveryJob
from app.kit.logging import get_logger
from app.kit.metrics import recovery_unrendered

log = get_logger(__name__)


class RunFailed(Exception):
    """This run cannot continue; the reason is for the tenant to read. The cause is for the log."""


class BrokerUnavailable(RunFailed):
    """The broker accepts nothing now, or not from us: that is not the job's fault."""


class EndUnroutable(RunFailed):
    """No queue receives the end, though all before it was published: replaying again would not help."""


class RecoveryPublisher:
    """Publishes one run of a job, odds with `probabilities` or without, over one connection of the tenant: a
    run does not continue on another, because what it published before may have gone with the tenant's queue.
    Raises `BrokerUnavailable` when the broker does not accept a message."""

    WINDOW: ClassVar[int] = 32  #: messages that are rendered before they are confirmed

    def __init__(
        self,
        channel: ConfirmedChannel,
        job: RecoveryJob,
        renderer: EnvelopeRenderer,
        feed: FeedPublishers,
        *,
        probabilities: bool = False,
    ) -> None:
        self._channel, self._job, self._renderer, self._count = channel, job, renderer, 0
        self._feed, self._probabilities = feed, probabilities

    async def publish(self, messages: Sequence[MatchMessage]) -> None:
        """Publish these, in order, and wait until all are confirmed."""
        try:
            async with asyncio.TaskGroup() as group:
                for each in messages:
                    message = self._rendered(each)
                    if message is not None:
                        group.create_task(self._feed.replayed(each.name, message, self._channel))
                    await asyncio.sleep(0)  # what is live is read, rendered and published in between
        except ExceptionGroup as errors:
            if errors.split(BrokerError)[1]:
                raise
            raise BrokerUnavailable("the broker did not accept a message") from errors.exceptions[0]

    def _rendered(self, message: MatchMessage) -> AmqpMessage | None:
        """The message as it is replayed; None for one that cannot be rendered: it is left out, as it is live,
        so that all others are replayed."""
        request, message_id = self._job.request, self._next_id()
        try:
            return self._renderer.replayed(message, request, message_id, probabilities=self._probabilities)
        except Exception:
            log.exception(
                "a message cannot be rendered and is left out of a recovery",
                job=self._job.id,
                match=message.number,
                message=message.name,
            )
            recovery_unrendered.inc()
            return None

    async def publish_end(self, at: int) -> bool:
        """Publish `snapshot_complete`, which must reach a queue of the tenant; whether it did."""
        message = self._renderer.snapshot_complete(self._job.request, at, self._next_id())
        try:
            await self._feed.snapshot_complete(message, self._channel)
        except Unroutable:
            return False
        except BrokerError as error:
            raise BrokerUnavailable("the broker did not accept snapshot_complete") from error
        return True

    def _next_id(self) -> str:
        self._count += 1
        return f"mf-r{self._job.id}.{self._job.attempts}.{self._count}"
