"""Follows the bindings of our tenants' queues, so that a message that none of them took is known as lost.

The broker's event exchange tells of each change within milliseconds. What there is already is read through
the management API: when a tenant is connected to, and whenever the events are followed anew. Where there are
no events (the plugin `rabbitmq_event_exchange` is not enabled, or we may not read there) the management API
is asked each second instead: of a change in between only the outcome is seen then, which is why queues of
other names than before count as a gap.
"""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from aio_pika.abc import AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import AMQPError, ChannelNotFoundEntity

from app.amqp.tenant_publisher import Delivery
from app.broker.address import Address
from app.broker.connection import open_connection
from app.broker.management import ExchangeBinding, Management
from app.broker.provisioning import LOST
from app.kit.background import run_isolated
from app.kit.errors import Unavailable
from app.kit.logging import get_logger

_EVENTS = "amq.rabbitmq.event"
_CREATED, _DELETED = "binding.created", "binding.deleted"
_CONNECT_SECONDS = 10.0
_LOOK_SECONDS = 1.0
_LOOKS = 10  #: so often the management API is asked before the events are tried again
_FAILURES = (AMQPError, OSError, TimeoutError, RuntimeError)
log = get_logger(__name__)


class Bindings:
    """Has every delivery know its tenant's bindings. `vhost` is where the broker's events are."""

    def __init__(
        self,
        management: Management,
        broker: Address,
        vhost: str,
        exchange: str,
        deliveries: Mapping[UUID, Delivery],
    ) -> None:
        self._management, self._exchange = management, exchange
        self._url = broker.url(vhost)
        self._deliveries = deliveries
        self._readers = 0
        self._since: list[tuple[str, str, ExchangeBinding]] = []  # what happened while somebody reads

    async def run(self) -> None:
        """Follow them for ever."""
        while True:
            try:
                await self._follow()
            except ChannelNotFoundEntity:
                log.warning(
                    "the broker has no event exchange: a client that is away for a moment may not be "
                    "notified; enable its plugin rabbitmq_event_exchange",
                    vhost_of_events=self._url.rpartition("/")[2],
                )
            except _FAILURES as error:
                log.warning("the broker's events cannot be followed", error=repr(error))
            for _ in range(_LOOKS):
                await self._read_all()
                await asyncio.sleep(_LOOK_SECONDS)

    async def read(self, delivery: Delivery) -> None:
        """Have a delivery know the bindings as they are now; raises `Unavailable`."""
        self._readers += 1
        begun = len(self._since)
        try:
            found = await self._management.bindings(delivery.slug, self._exchange)
            delivery.rebound((each for each in found if each.queue != LOST), followed=False)
            for event, slug, binding in self._since[begun:]:
                if slug == delivery.slug:
                    self._apply(delivery, event, binding)
        finally:
            self._readers -= 1
            if not self._readers:
                self._since.clear()

    async def _follow(self) -> None:
        """Until the connection ends."""
        over = asyncio.Event()
        async with open_connection(self._url, _CONNECT_SECONDS) as connection:
            connection.close_callbacks.add(lambda *_: over.set())
            await run_isolated(self._consume(connection), _CONNECT_SECONDS)
            await self._read_all()
            log.info("the broker's events are followed")
            await over.wait()
        log.warning("the connection to the broker's events ended")

    async def _consume(self, connection: AbstractConnection) -> None:
        channel = await connection.channel()
        queue = await channel.declare_queue(exclusive=True)
        for event in (_CREATED, _DELETED):
            await queue.bind(_EVENTS, event)
        await queue.consume(self._take, no_ack=True)

    async def _take(self, message: AbstractIncomingMessage) -> None:
        told: Mapping[str, Any] = message.headers
        if told.get("source_name") != self._exchange or told.get("destination_name") == LOST:
            return
        binding = ExchangeBinding(str(told["destination_name"]), str(told["routing_key"]))
        slug, event = str(told["vhost"]), message.routing_key or ""
        if self._readers:
            self._since.append((event, slug, binding))
        for delivery in self._deliveries.values():
            if delivery.slug == slug and delivery.word.audience.known:
                self._apply(delivery, event, binding)

    def _apply(self, delivery: Delivery, event: str, binding: ExchangeBinding) -> None:
        known = delivery.word.audience.bindings
        now = known | {binding} if event == _CREATED else known - {binding}
        delivery.rebound(now, followed=True)

    async def _read_all(self) -> None:
        for delivery in [each for each in self._deliveries.values() if each.connection]:
            try:
                await self.read(delivery)
            except Unavailable as error:
                log.warning("bindings cannot be read", tenant=delivery.slug, error=error.detail)
                return
