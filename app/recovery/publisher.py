"""One recovery's way into the tenant's vhost, through FastStream, every envelope confirmed."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Self

from aio_pika.exceptions import PublishError
from faststream.rabbit import Channel, ExchangeType, RabbitBroker, RabbitExchange

from app.amqp import broker_lifecycle, routing
from app.amqp.reconnect import Login
from app.domain.recovery import RecoveryJob
from app.recovery.letter import Letter

_SECONDS = 15.0


class Undelivered(Exception):
    """This run cannot go on; says why, in words for the tenant. What caused it is for the log."""


class Away(Undelivered):
    """The broker takes nothing now, or not from us: that is not the job's fault."""


class Unheard(Undelivered):
    """The end was not taken, though all before it was published: to tell it all again would not help."""


class Post:
    """Publishes for one run of a job; a context. Raises `Away` when the broker does not take it."""

    WINDOW: ClassVar[int] = 32  #: envelopes that wait for the broker's confirm at once

    def __init__(self, login: Login, slug: str, job: RecoveryJob) -> None:
        self._job, self._sent = job, 0
        self._exchange = RabbitExchange(login.exchange, ExchangeType.TOPIC, durable=True, declare=False)
        self._url = login.address.url(slug)
        self._broker = RabbitBroker(
            self._url,
            default_channel=Channel(on_return_raises=True),
            timeout=_SECONDS,
            graceful_timeout=1,
            logger=None,
        )

    async def send(self, letters: Sequence[tuple[Letter, bytes]]) -> None:
        """Publish these, in order, and wait until all are confirmed."""
        node = self._job.request.node_id
        try:
            async with asyncio.TaskGroup() as group:
                for letter, body in letters:
                    key = routing.replayed(letter.message, letter.number, node)
                    group.create_task(self._publish(key, body, letter.at, {"x-seq": letter.seq}))
        except ExceptionGroup as errors:
            if errors.split(broker_lifecycle.FAILURES)[1]:
                raise
            raise Away("the broker did not take an envelope") from errors.exceptions[0]

    async def complete(self, body: bytes, at: int) -> bool:
        """Publish the end, which some queue of the tenant must take; whether one did."""
        try:
            await self._publish(routing.complete(self._job.request.node_id), body, at, {}, mandatory=True)
        except PublishError:
            return False
        except broker_lifecycle.FAILURES as error:
            raise Away("the broker did not take snapshot_complete") from error
        return True

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
            await broker_lifecycle.begin(self._broker, self._url)
        except broker_lifecycle.FAILURES as error:
            raise Away("no way into the vhost") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        await broker_lifecycle.end(self._broker)
