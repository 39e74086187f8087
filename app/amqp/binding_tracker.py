"""Tracks the bindings of our tenants' queues, so that a message that none of them received is known as lost.

The broker's event exchange publishes each change within milliseconds. Bindings that exist already are read
through the management API: before a tenant is connected to, and again whenever the subscription to the events
begins: of what changed between a read and that moment there is no event.
Where there are no events (the plugin `rabbitmq_event_exchange` is not enabled, or we may not read there) the
management API is polled each second instead: of several changes between two polls only the result is seen,
which is why queues with other names than before count as an unbound loss.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import AMQPConnectionError, AMQPError, ChannelNotFoundEntity

from app.amqp.tenant_publisher import TenantPublisher
from app.broker.address import Address
from app.broker.connection import FAILURES, open_connection, reachable
from app.broker.management import ExchangeBinding, Management
from app.broker.permissions import SDK_EXCHANGE
from app.broker.provisioning import LOST
from app.kit.background import run_isolated
from app.kit.errors import Unavailable
from app.kit.logging import get_logger

_EVENTS = "amq.rabbitmq.event"
_CREATED, _DELETED = "binding.created", "binding.deleted"
_CONNECT_SECONDS = 10.0
_POLL_SECONDS = 1.0
_POLLS = 10  #: so often the management API is polled before the events are tried again
_RETRY_SECONDS = 0.2  #: before the next connection, when an established one has ended
_QUIET_SECONDS = 3.0  #: after so long without an event we check whether the broker still answers
_ANSWER_SECONDS = 5.0
log = get_logger(__name__)


class BindingTracker:
    """Updates the bindings of every publisher. `vhost` is where the broker's events are; `reached` is whether
    the broker answered the last request over AMQP."""

    def __init__(
        self,
        management: Management,
        broker: Address,
        vhost: str,
        exchange: str,
        publishers: Mapping[UUID, TenantPublisher],
    ) -> None:
        self._management, self._exchanges = management, (exchange, SDK_EXCHANGE)
        self._urls, self._vhost = broker.urls(vhost), vhost
        self._publishers = publishers
        self.reached = False
        self._readers = self._subscriptions = 0
        self._events: list[tuple[str, str, ExchangeBinding]] = []  # received during a read

    async def run(self) -> None:
        """Track them for ever."""
        while True:
            try:
                await self._follow()
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            except ChannelNotFoundEntity:
                self.reached = True
                log.warning(
                    "the broker has no event exchange: a client that disconnects for a moment may not be "
                    "notified; enable its plugin rabbitmq_event_exchange",
                    vhost_of_events=self._vhost,
                )
            except FAILURES as error:
                self.reached = _is_answer(error)
                log.warning("subscribing to the broker's events failed", error=repr(error))
            for _ in range(_POLLS):
                await self._read_all()
                await asyncio.sleep(_POLL_SECONDS)

    async def read(self, publisher: TenantPublisher) -> None:
        """Read the present bindings of a publisher's tenant; raises `Unavailable`."""
        self._readers += 1
        begun = len(self._events)
        try:
            subscription = None
            while subscription != self._subscriptions:  # of a change before a new one there is no event
                subscription = self._subscriptions
                found = await self._present(publisher.vhost)
            publisher.update_bindings((each for each in found if each.queue != LOST), complete=False)
            for event, vhost, binding in self._events[begun:]:
                if vhost == publisher.vhost:
                    self._apply(publisher, event, binding)
        finally:
            self._readers -= 1
            if not self._readers:
                self._events.clear()

    async def _present(self, vhost: str) -> set[ExchangeBinding]:
        """The bindings of a tenant's queues to any exchange that has the feed."""
        return {
            binding
            for exchange in self._exchanges
            for binding in await self._management.bindings(vhost, exchange)
        }

    async def _follow(self) -> None:
        """Consume events until the connection ends, or the broker does not answer on it."""
        over = asyncio.Event()
        url = await reachable(self._urls, _CONNECT_SECONDS)
        async with open_connection(url, _CONNECT_SECONDS) as connection:
            connection.close_callbacks.add(lambda *_: over.set())
            channel = await run_isolated(self._consume(connection), _CONNECT_SECONDS)
            self.reached = True
            self._subscriptions += 1
            complete = await self._read_all()
            log.info("subscribed to the broker's events")
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_QUIET_SECONDS if complete else _POLL_SECONDS):
                        await over.wait()
                if not over.is_set():
                    await run_isolated(_answered(channel), _ANSWER_SECONDS)
                    complete = complete or await self._read_all()
        log.warning("the connection to the broker's events ended")

    async def _consume(self, connection: AbstractConnection) -> AbstractChannel:
        channel = await connection.channel()
        queue = await channel.declare_queue(exclusive=True)
        for event in (_CREATED, _DELETED):
            await queue.bind(_EVENTS, event)
        await queue.consume(self._on_event, no_ack=True)
        return channel

    async def _on_event(self, message: AbstractIncomingMessage) -> None:
        headers: Mapping[str, Any] = message.headers
        source, queue = headers.get("source_name"), headers.get("destination_name")
        if source not in self._exchanges or headers.get("destination_kind") != "queue" or queue == LOST:
            return
        binding = ExchangeBinding(str(queue), str(headers["routing_key"]), str(source))
        vhost, event = str(headers["vhost"]), message.routing_key or ""
        if self._readers:
            self._events.append((event, vhost, binding))
        for publisher in self._publishers.values():
            if publisher.vhost == vhost and publisher.bindings.known:
                self._apply(publisher, event, binding)

    def _apply(self, publisher: TenantPublisher, event: str, binding: ExchangeBinding) -> None:
        known = publisher.bindings.current
        now = known | {binding} if event == _CREATED else known - {binding}
        publisher.update_bindings(now, complete=True)

    async def _read_all(self) -> bool:
        """Read all bindings again that were read before; whether every read succeeded."""
        for publisher in [each for each in self._publishers.values() if each.bindings.known]:
            try:
                await self.read(publisher)
            except Unavailable as error:
                log.warning("reading bindings failed", tenant=publisher.slug, error=error.detail)
                return False
        return True


async def _answered(channel: AbstractChannel) -> None:
    await channel.get_exchange(_EVENTS)


def _is_answer(error: BaseException) -> bool:
    """Whether the broker sent this refusal. aiormq raises `AMQPConnectionError` itself for errors of sockets,
    and its subclasses for what the broker sends."""
    return isinstance(error, AMQPError) and type(error) is not AMQPConnectionError
