"""Publishes one run of a recovery to the tenant's vhost, every message confirmed."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar, Self

from aio_pika.exceptions import PublishError

from app.amqp import broker_lifecycle
from app.amqp.envelope import EnvelopeRenderer, MatchMessage
from app.amqp.frames import AmqpMessage
from app.amqp.publisher_login import PublisherLogin
from app.amqp.vhost_publisher import VhostPublisher
from app.domain.recovery import RecoveryJob

_SECONDS = 15.0


class RunFailed(Exception):
    """This run cannot continue; the reason is for the tenant to read. The cause is for the log."""


class BrokerUnavailable(RunFailed):
    """The broker accepts nothing now, or not from us: that is not the job's fault."""


class EndUnroutable(RunFailed):
    """No queue receives the end, though all before it was published: replaying again would not help."""


class RecoveryPublisher:
    """Publishes one run of a job, odds with `probabilities` or without; a context manager. Raises
    `BrokerUnavailable` when the broker does not accept a message."""

    WINDOW: ClassVar[int] = 32  #: messages that are unconfirmed at once

    def __init__(
        self,
        login: PublisherLogin,
        slug: str,
        job: RecoveryJob,
        renderer: EnvelopeRenderer,
        *,
        probabilities: bool = False,
    ) -> None:
        self._job, self._renderer, self._count = job, renderer, 0
        self._probabilities = probabilities
        self._vhost = VhostPublisher(login, slug, _SECONDS, publish_timeout=_SECONDS)

    async def publish(self, messages: Sequence[MatchMessage]) -> None:
        """Publish these, in order, and wait until all are confirmed."""
        request, detailed = self._job.request, self._probabilities
        rendered = [
            self._renderer.replayed(each, request, self._next_id(), probabilities=detailed)
            for each in messages
        ]
        try:
            async with asyncio.TaskGroup() as group:
                for message in rendered:
                    group.create_task(self._vhost.publish(message))
        except ExceptionGroup as errors:
            if errors.split(broker_lifecycle.FAILURES)[1]:
                raise
            raise BrokerUnavailable("the broker did not accept a message") from errors.exceptions[0]

    async def publish_end(self, at: int) -> bool:
        """Publish `snapshot_complete`, which must reach a queue of the tenant; whether it did."""
        message: AmqpMessage = self._renderer.snapshot_complete(self._job.request, at, self._next_id())
        try:
            await self._vhost.publish(message)
        except PublishError:
            return False
        except broker_lifecycle.FAILURES as error:
            raise BrokerUnavailable("the broker did not accept snapshot_complete") from error
        return True

    def _next_id(self) -> str:
        self._count += 1
        return f"mf-r{self._job.id}.{self._job.attempts}.{self._count}"

    async def __aenter__(self) -> Self:
        try:
            await self._vhost.connect()
        except broker_lifecycle.FAILURES as error:
            raise BrokerUnavailable("connecting to the vhost failed") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._vhost.close()
