"""One recovery's way into the tenant's vhost, through FastStream, every envelope confirmed."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Self

from aio_pika.exceptions import AMQPError
from faststream.exceptions import FastStreamException
from faststream.rabbit import Channel, ExchangeType, RabbitBroker, RabbitExchange

from app.channels.feed import routing
from app.channels.feed.link import Door
from app.domain.recovery import Job
from app.kit.logging import get_logger
from app.recovery.replay import Fact

_SECONDS = 15.0
_CLOSE_SECONDS = 2.0
_FAILURES = (AMQPError, FastStreamException, OSError, TimeoutError, RuntimeError)
log = get_logger(__name__)


class Undelivered(Exception):
    """This run cannot go on; says why."""


class Post:
    """Publishes for one run of a job; a context. Raises `Undelivered` when the broker does not take it."""

    WINDOW: ClassVar[int] = 32  #: envelopes that wait for the broker's confirm at once

    def __init__(self, door: Door, slug: str, job: Job) -> None:
        self._job, self._sent = job, 0
        self._exchange = RabbitExchange(door.exchange, ExchangeType.TOPIC, durable=True, declare=False)
        self._broker = RabbitBroker(
            door.address.url(slug),
            default_channel=Channel(on_return_raises=True),
            timeout=_SECONDS,
            graceful_timeout=1,
            logger=None,
        )

    async def send(self, letters: Sequence[tuple[Fact, bytes]]) -> None:
        """Publish these, in order, and wait until all are confirmed."""
        node = self._job.asked.node_id
        try:
            async with asyncio.TaskGroup() as group:
                for fact, body in letters:
                    key = routing.replayed(fact.message, fact.number, node)
                    group.create_task(self._publish(key, body, fact.at, {"x-seq": fact.seq}))
        except ExceptionGroup as errors:
            if errors.split(_FAILURES)[1]:
                raise
            raise Undelivered(f"the broker did not take an envelope: {errors.exceptions[0]!r}") from errors

    async def complete(self, body: bytes, at: int) -> None:
        """Publish the end, which some queue of the tenant must take: if none does, nobody listens and what
        was replayed is lost too."""
        try:
            await self._publish(routing.complete(self._job.asked.node_id), body, at, {}, mandatory=True)
        except _FAILURES as error:
            raise Undelivered(f"snapshot_complete was not taken by any queue: {error!r}") from error

    async def _publish(
        self, key: str, body: bytes, at: int, headers: dict[str, int], *, mandatory: bool = False
    ) -> None:
        self._sent += 1
        properties: dict[str, Any] = {
            "headers": {"recovery": 1, **headers},
            "message_id": f"mf-r{self._job.id}.{self._job.attempts}.{self._sent}",
            "timestamp": datetime.fromtimestamp(at // 1000, UTC),
            "content_type": "application/xml",
            "persist": True,
        }
        await self._broker.publish(
            body,
            exchange=self._exchange,
            routing_key=key,
            mandatory=mandatory,
            timeout=_SECONDS,
            **properties,
        )

    async def __aenter__(self) -> Self:
        try:
            await self._broker.connect()
        except _FAILURES as error:
            raise Undelivered(f"no way into the vhost: {error!r}") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._broker.stop()
        except _FAILURES as error:
            log.info("a connection ended roughly", error=repr(error))
