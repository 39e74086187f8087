"""The durable internal queues between the log sink and the ingest worker, through FastStream.

A match's batches all go to one queue, in order; a queue has one active consumer at a time. The queues are in
a vhost of our own, which is created through the management API when it is missing.
"""

import asyncio
from contextlib import suppress
from typing import Self

from faststream.exceptions import FastStreamException
from faststream.rabbit import Channel, RabbitBroker, RabbitQueue

from app.broker import connection as amqp_connection
from app.broker.address import parse
from app.broker.management import Management
from app.ingest.batch import Batch, headers
from app.kit.background import abandon
from app.kit.errors import Unavailable
from app.kit.logging import get_logger

PARTITIONS = 8
_PUBLISH_SECONDS = 1.5
_PING_SECONDS = 1.0
_PROBE_SECONDS = 5.0
_HEARTBEAT_SECONDS = 10  #: after about three of them the broker moves a frozen worker's queues to others
_RETRY_SECONDS = 1.0
_STOP_SECONDS = 5.0
FAILURES = (*amqp_connection.FAILURES, FastStreamException)
log = get_logger(__name__)


def queue(partition: int) -> RabbitQueue:
    return RabbitQueue(f"ingest.{partition}", durable=True, arguments={"x-single-active-consumer": True})


def partition(number: int) -> int:
    """The queue that the batches of match `number` go to."""
    return number % PARTITIONS


class IngestQueues:
    """One process's connection to the internal queues. Use as a context; it connects in the background."""

    def __init__(self, rabbitmq_url: str, vhost: str, api_url: str) -> None:
        self._vhost = vhost
        self._api_url = api_url
        self._url = f"{parse(rabbitmq_url).url(vhost)}?heartbeat={_HEARTBEAT_SECONDS}"
        self._ready = asyncio.Event()
        self._attempted = asyncio.Event()
        self._closing = asyncio.Event()
        self._connecting: asyncio.Task[None] | None = None
        self.broker = RabbitBroker(
            self._url,
            default_channel=Channel(on_return_raises=True),
            graceful_timeout=_STOP_SECONDS,
            reconnect_interval=_RETRY_SECONDS,
            apply_types=False,
            logger=None,
        )

    async def publish(self, batch: Batch) -> None:
        """Publish a batch; returns once the broker has confirmed it. After the start of a process it waits
        for the first attempt to connect.

        Raises `Unavailable` within two seconds otherwise; the batch may be queued all the same.
        """
        try:
            async with asyncio.timeout(_PUBLISH_SECONDS):
                await self._attempted.wait()
                if not self._ready.is_set():
                    raise ConnectionError("not connected to the broker")
                await self.broker.publish(
                    batch.body,
                    queue(partition(batch.number)),
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
        return self._ready.is_set() and await self.broker.ping(timeout=_PING_SECONDS)

    async def empty(self) -> bool:
        """Whether no batch waits in any queue now; one of each may still be being applied. False as well
        while the broker does not answer."""
        if not self._ready.is_set():
            return False
        try:
            async with asyncio.timeout(_PING_SECONDS):
                for number in range(PARTITIONS):
                    declared = await (await self.broker.declare_queue(queue(number))).declare()
                    if declared.message_count:
                        return False
        except FAILURES as error:
            log.warning("the internal queues cannot be counted", error=repr(error))
            return False
        return True

    async def ready(self) -> None:
        """Wait until the queues are declared and batches can be published."""
        await self._ready.wait()

    async def _connect(self) -> None:
        """Connect and declare the queues, retrying until it works or we are closed."""
        while not self._ready.is_set() and not self._closing.is_set():
            try:
                await amqp_connection.probe(self._url, _PROBE_SECONDS)
                await self.broker.start()
                for number in range(PARTITIONS):
                    await self.broker.declare_queue(queue(number))
                self._ready.set()
                self._attempted.set()
            except FAILURES as error:
                self._attempted.set()
                log.warning("no connection to the internal queues, retrying", error=repr(error))
                await self._prepare_vhost()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_RETRY_SECONDS):
                        await self._closing.wait()

    async def _prepare_vhost(self) -> None:
        try:
            async with Management(self._api_url) as management:
                await management.put_vhost(self._vhost)
                everything = ".*"
                await management.set_permissions(
                    self._vhost, management.user, configure=everything, write=everything, read=everything
                )
        except Unavailable as error:
            log.warning("the internal vhost cannot be checked", error=error.detail)

    async def __aenter__(self) -> Self:
        self._connecting = asyncio.create_task(self._connect())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        if self._connecting is not None:
            # A cancelled attempt leaves a connection open; so only one that hangs is cancelled.
            await asyncio.wait([self._connecting], timeout=_STOP_SECONDS)
            abandon(self._connecting)
            await asyncio.wait([self._connecting])
        try:
            await self.broker.stop()
        except FAILURES as error:  # the broker may be down, or go down now
            log.info("a connection to the internal queues did not close cleanly", error=repr(error))
