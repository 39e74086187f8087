"""`alive`, to one tenant: on time as long as it is true.

It is withheld while what happens now would not reach the tenant (no connection, a blocked broker, a change
log that cannot be read), so that clients notice. When it could not be said for longer than clients wait,
when messages were lost to the tenant, or when nobody tends the prices, the next one says `subscribed="0"`,
once: the client recovers, from what it heard last. So after an outage of that length, and after a loss, it
comes before anything else: until the broker has confirmed it, the delivery is held back. Where nothing is
bound, nothing is said.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
from faststream.rabbit import ExchangeType, RabbitBroker, RabbitExchange

from app.amqp import broker_lifecycle, routing
from app.amqp.queue_losses import Losses
from app.amqp.reconnect import Login
from app.amqp.tenant_publisher import Delivery
from app.kit.background import abandon
from app.kit.clock import Clock, system_clock
from app.kit.logging import get_logger
from app.kit.retry import wait_for_event
from app.wire.envelopes import feed

_PATIENCE_SECONDS = 5.0
_RETRY_SECONDS = 0.2
log = get_logger(__name__)


class Tidings(msgspec.Struct, frozen=True):
    """What a heartbeat asks the rest of the process: for how many seconds the change log has not been read
    to its end, and ingest's last beat (ms) when nobody has tended the prices since, else None."""

    age: Callable[[], float]
    dead: Callable[[], int | None]


class Heartbeat:
    """Says `alive` to the tenant of a delivery, and the `word` that it shares with that."""

    def __init__(
        self,
        login: Login,
        delivery: Delivery,
        losses: Losses,
        tidings: Tidings,
        product: int,
        clock: Clock = system_clock,
    ) -> None:
        self._login, self._delivery, self._word = login, delivery, delivery.word
        self._losses, self._tidings, self._product, self._clock = losses, tidings, product, clock
        self._exchange = RabbitExchange(login.exchange, ExchangeType.TOPIC, durable=True, declare=False)
        self._broker: RabbitBroker | None = None
        self._pending: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Say it for ever, from the moment the tenant can be reached."""
        try:
            while True:
                self._delivery.reachable.clear()
                if await self._say():
                    await self._rest()
                else:
                    await wait_for_event(self._delivery.reachable, _RETRY_SECONDS)
        finally:
            await self._hang_up()

    async def _rest(self) -> None:
        """Wait until it is time, or until there is a word to say."""
        word = self._word
        until = time.monotonic() + word.seconds - 0.01
        while not self._due() and (left := until - time.monotonic()) > 0:
            word.hurried.clear()
            await wait_for_event(word.hurried, word.pause(left))

    def _due(self) -> bool:
        """Whether there is something to say now, and somebody whom it reaches."""
        return self._word.audience.any and self._word.due(self._tidings.dead())

    async def _say(self) -> bool:
        """Say what is true; False when it cannot be said now."""
        word = self._word
        if not self._delivery.healthy or self._tidings.age() > word.seconds or word.waits:
            return False
        if not await self._settled():
            return False
        if not word.audience.any:
            word.unheard()
            self._delivery.pump()
            return True
        if word.overdue:
            self._delivery.come_back(self._clock() - word.silent)
        if word.due(self._tidings.dead()) and not await self._publish(subscribed=False):
            return False
        said = await self._publish(subscribed=True)
        self._delivery.pump()
        if said and self._broker:
            if await self._losses.look(self._broker):
                word.missed()
            word.dropped, word.withheld = self._losses.count, self._losses.owed
        return said

    async def _publish(self, *, subscribed: bool) -> bool:
        self._pending = asyncio.create_task(self._put(subscribed))
        return await self._settled()

    async def _settled(self) -> bool:
        """Whether what was published last is confirmed. While it is not, nothing more is published: a broker
        that takes nothing now takes all of it later, and what is said then must not be said again."""
        if self._pending is None:
            return True
        await asyncio.wait({self._pending}, timeout=_PATIENCE_SECONDS)
        if not self._pending.done():
            if not (self._broker and await self._broker.ping(0.1)):
                await self._hang_up()
            return False
        task, self._pending = self._pending, None
        # Cancelled by the client, not by us: it gives up a connection that hangs.
        gone = ConnectionError("the client gave its connection up") if task.cancelled() else None
        if error := gone or task.exception():
            log.warning("alive could not be said", tenant=self._delivery.slug, error=repr(error))
            await self._hang_up()
        return error is None

    async def _put(self, subscribed: bool) -> None:
        now, lost, dead = self._clock(), self._word.lost, self._tidings.dead()
        gaps = self._word.gaps if self._word.audience.reached else 0
        broker = await self._connected()
        await broker.publish(
            feed.alive(self._product, now, subscribed),
            exchange=self._exchange,
            routing_key=routing.ALIVE,
            mandatory=False,
            content_type="application/xml",
            timestamp=datetime.fromtimestamp(now // 1000, UTC),
        )
        self._word.said(subscribed=subscribed, lost=lost, dead=dead, gaps=gaps)

    async def _connected(self) -> RabbitBroker:
        if self._broker is None:
            url = self._login.address.url(self._delivery.slug)
            broker = RabbitBroker(url, logger=None, timeout=_PATIENCE_SECONDS, graceful_timeout=1)
            await broker_lifecycle.begin(broker, url)
            self._broker = broker
        return self._broker

    async def _hang_up(self) -> None:
        broker, self._broker = self._broker, None
        pending, self._pending = self._pending, None
        if pending:
            abandon(pending)
        if broker:
            await broker_lifecycle.end(broker)
