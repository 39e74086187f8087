"""The durable internal queues between the log sink and the ingest worker, through FastStream.

A match's batches all go to one queue, in order; a queue has one active consumer at a time. The queues are in
a vhost of our own, which is created through the management API when it is missing. In a cluster they are
quorum queues, and a connection that is lost moves to another node.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, Self

import msgspec
from aio_pika import RobustConnection
from aio_pika.connection import make_url
from faststream.exceptions import FastStreamException
from faststream.rabbit import Channel, RabbitBroker, RabbitQueue
from faststream.rabbit.schemas.queue import ClassicQueueArgs, QueueType, QuorumQueueArgs

from app.broker import connection as amqp_connection
from app.broker.address import parse
from app.broker.management import Management
from app.ingest.batches import Batch, headers
from app.kit.background import abandon, wait_for_event
from app.kit.errors import Unavailable
from app.kit.logging import get_logger

PARTITIONS = 8
_PUBLISH_SECONDS = 1.5
_PING_SECONDS = 1.0
_PROBE_SECONDS = 5.0
_HEARTBEAT_SECONDS = 10  #: after about three of them the broker moves a frozen worker's queues to others
_RETRY_SECONDS = 1.0
#: Until a process has connected for the first time: a broker that is started with it answers within seconds.
_FIRST_RETRY_SECONDS = 0.25
_STOP_SECONDS = 5.0
FAILURES = (*amqp_connection.FAILURES, FastStreamException)
log = get_logger(__name__)
AddSubscribers = Callable[[RabbitBroker], None]


class QueueConfig(msgspec.Struct, frozen=True):
    """Settings of the internal queues (`app.settings` documents each)."""

    rabbitmq_url: str
    rabbitmq_internal_vhost: str
    rabbitmq_api_url: str
    ingest_queue_type: Literal["classic", "quorum"] = "classic"


def name_of(partition: int) -> str:
    return f"ingest.{partition}"


def partition(number: int) -> int:
    """The queue that the batches of match `number` go to."""
    return number % PARTITIONS


class IngestQueues:
    """One process's connection to the internal queues. Use as a context; it connects in the background."""

    def __init__(self, config: QueueConfig) -> None:
        self._config = config
        urls = parse(config.rabbitmq_url).urls(config.rabbitmq_internal_vhost)
        self._urls = [f"{url}?heartbeat={_HEARTBEAT_SECONDS}" for url in urls]
        self._subscribers: list[AddSubscribers] = []
        self._ready = asyncio.Event()
        self._attempted = asyncio.Event()
        self._closing = asyncio.Event()
        self._connecting: asyncio.Task[None] | None = None
        self._broker: RabbitBroker | None = None

    def queue(self, partition: int) -> RabbitQueue:
        """The queue of a partition, as it is declared."""
        name = name_of(partition)
        if self._config.ingest_queue_type == "quorum":
            quorum: QuorumQueueArgs = {"x-single-active-consumer": True}
            return RabbitQueue(name, queue_type=QueueType.QUORUM, durable=True, arguments=quorum)
        classic: ClassicQueueArgs = {"x-single-active-consumer": True}
        return RabbitQueue(name, durable=True, arguments=classic)

    def subscribe(self, add: AddSubscribers) -> None:
        """Have `add` declare subscribers as soon as a node of the broker is found; to be called before the
        connection is opened."""
        self._subscribers.append(add)

    async def publish(self, batch: Batch) -> None:
        """Publish a batch; returns once the broker has confirmed it. After the start of a process it waits
        for the first attempt to connect.

        Raises `Unavailable` within two seconds otherwise; the batch may be queued all the same.
        """
        try:
            async with asyncio.timeout(_PUBLISH_SECONDS):
                await self._attempted.wait()
                await self._connected().publish(
                    batch.body,
                    self.queue(partition(batch.number)),
                    headers=headers(batch),
                    message_id=batch.id,
                    content_type="text/plain",
                    persist=True,
                )
        except FAILURES as error:
            log.warning("a log batch could not be queued", match=batch.number, error=repr(error))
            raise Unavailable("The log cannot be queued now; send it again.", retry_after=1) from error

    async def healthy(self) -> bool:
        """Whether the broker responds now."""
        return self._ready.is_set() and await self._connected().ping(timeout=_PING_SECONDS)

    async def empty(self) -> bool:
        """Whether no batch waits in any queue now; one of each may still be being applied. False as well
        while the broker does not answer."""
        if not self._ready.is_set():
            return False
        try:
            async with asyncio.timeout(_PING_SECONDS):
                for number in range(PARTITIONS):
                    declared = await (await self._connected().declare_queue(self.queue(number))).declare()
                    if declared.message_count:
                        return False
        except FAILURES as error:
            log.warning("the internal queues cannot be counted", error=repr(error))
            return False
        return True

    async def ready(self) -> None:
        """Wait until the queues are declared and batches can be published."""
        await self._ready.wait()

    def _connected(self) -> RabbitBroker:
        if self._broker is None or not self._ready.is_set():
            raise ConnectionError("not connected to the broker")
        return self._broker

    async def _connect(self) -> None:
        """Connect and declare the queues, retrying until it works or we are closed; then move between the
        broker's nodes, if it has several."""
        while not self._ready.is_set() and not self._closing.is_set():
            try:
                connection = await self._start()
                self._ready.set()
                self._attempted.set()
                await self._move_when_lost(connection)
            except FAILURES as error:
                self._attempted.set()
                log.warning("no connection to the internal queues, retrying", error=repr(error))
                await self._stop()
                await self._prepare_vhost()
                await wait_for_event(self._closing, _FIRST_RETRY_SECONDS)

    async def _start(self) -> RobustConnection:
        url = await amqp_connection.reachable(self._urls, _PROBE_SECONDS)
        self._broker = RabbitBroker(
            url,
            default_channel=Channel(on_return_raises=True),
            graceful_timeout=_STOP_SECONDS,
            reconnect_interval=_RETRY_SECONDS,
            apply_types=False,
            logger=None,
        )
        for add in self._subscribers:
            add(self._broker)
        connection = await self._broker.connect()
        await self._broker.start()
        for number in range(PARTITIONS):
            await self._broker.declare_queue(self.queue(number))
        return connection

    async def _move_when_lost(self, connection: RobustConnection) -> None:
        """Whenever the connection is lost, set its address to a node that accepts connections: by itself it
        would only try the node that it had."""
        lost = asyncio.Event()
        connection.close_callbacks.add(lambda *_: lost.set())
        while len(self._urls) > 1:
            await lost.wait()
            lost.clear()
            while not connection.connected.is_set():
                with suppress(*FAILURES):  # each node's is logged
                    connection.url = make_url(await amqp_connection.reachable(self._urls, _PROBE_SECONDS))
                await asyncio.sleep(_RETRY_SECONDS)

    async def _stop(self) -> None:
        if self._broker is None:
            return
        try:
            await self._broker.stop()
        except FAILURES as error:  # the broker may be down, or go down now
            log.info("a connection to the internal queues did not close cleanly", error=repr(error))

    async def _prepare_vhost(self) -> None:
        try:
            async with Management(self._config.rabbitmq_api_url) as management:
                vhost, everything = self._config.rabbitmq_internal_vhost, ".*"
                await management.put_vhost(vhost)
                await management.set_permissions(
                    vhost, management.user, configure=everything, write=everything, read=everything
                )
        except Unavailable as error:
            log.warning("the internal vhost cannot be checked", error=error.detail)

    async def __aenter__(self) -> Self:
        self._connecting = asyncio.create_task(self._connect())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        if self._connecting is not None:
            if not self._ready.is_set():
                # A cancelled attempt leaves a connection open; so only one that hangs is cancelled.
                await asyncio.wait([self._connecting], timeout=_STOP_SECONDS)
            abandon(self._connecting)
            await asyncio.wait([self._connecting])
        await self._stop()
