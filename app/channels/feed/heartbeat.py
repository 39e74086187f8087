"""`alive`, to one tenant: on time as long as it is true.

It is withheld while what happens now would not reach the tenant (no connection, a blocked broker, a change
log that cannot be read), so that clients notice. When it could not be said for longer than clients wait,
or envelopes were lost to the tenant, the next one says `subscribed="0"`, once: the client recovers.
"""

import asyncio
import time
from datetime import UTC, datetime

from aio_pika.exceptions import AMQPError
from faststream.rabbit import ExchangeType, RabbitBroker, RabbitExchange

from app.channels.feed import routing
from app.channels.feed.delivery import Delivery
from app.channels.feed.link import Door
from app.channels.feed.patience import wait
from app.channels.feed.relay import Relay
from app.kit.clock import Clock, system_clock
from app.kit.logging import get_logger
from app.wire.envelopes import feed

_PUBLISH_SECONDS = 5.0
_RETRY_SECONDS = 0.2
_HANG_UP_SECONDS = 2.0
log = get_logger(__name__)


class Heartbeat:
    """Says `alive` to one tenant, every `seconds`. `silent_for`: seconds that it has not been said before
    we came, so that the first one can be honest."""

    def __init__(
        self,
        door: Door,
        delivery: Delivery,
        relay: Relay,
        *,
        product: int,
        seconds: float,
        silent_for: float,
        clock: Clock = system_clock,
    ) -> None:
        self._door, self._delivery, self._relay = door, delivery, relay
        self._product, self._seconds, self._clock = product, seconds, clock
        self._said_at = time.monotonic() - silent_for
        self._losses = 0
        self._down = asyncio.Event()
        self._exchange = RabbitExchange(door.exchange, ExchangeType.TOPIC, durable=True, declare=False)
        self._broker: RabbitBroker | None = None

    def say_down(self) -> None:
        """Say `subscribed="0"` once, now."""
        self._down.set()

    async def run(self) -> None:
        """Say it for ever, from the moment the tenant can be reached."""
        try:
            while True:
                self._delivery.reachable.clear()
                if await self._say():
                    await wait(self._down, self._seconds - 0.01)
                else:
                    await wait(self._delivery.reachable, _RETRY_SECONDS)
        finally:
            await self._hang_up()

    async def _say(self) -> bool:
        """Say what is true; False when it cannot be said now."""
        if not self._delivery.healthy or self._relay.age > self._seconds:
            return False
        losses = self._delivery.given_up
        silent = time.monotonic() - self._said_at
        if self._down.is_set() or losses > self._losses or silent > 2 * self._seconds:
            if not await self._publish(subscribed=False):
                return False
            self._down.clear()
            self._losses = losses
        return await self._publish(subscribed=True)

    async def _publish(self, *, subscribed: bool) -> bool:
        now = self._clock()
        try:
            broker = await self._connected()
            await broker.publish(
                feed.alive(self._product, now, subscribed),
                exchange=self._exchange,
                routing_key=routing.ALIVE,
                mandatory=False,
                timeout=_PUBLISH_SECONDS,
                content_type="application/xml",
                timestamp=datetime.fromtimestamp(now // 1000, UTC),
            )
        except (AMQPError, OSError, TimeoutError, RuntimeError) as error:
            log.warning("alive could not be said", tenant=self._delivery.slug, error=repr(error))
            await self._hang_up()
            return False
        self._said_at = time.monotonic()
        return True

    async def _connected(self) -> RabbitBroker:
        if self._broker is None:
            url = self._door.address.url(self._delivery.slug)
            self._broker = RabbitBroker(url, logger=None, timeout=_PUBLISH_SECONDS, graceful_timeout=1)
            await self._broker.connect()
        return self._broker

    async def _hang_up(self) -> None:
        broker, self._broker = self._broker, None
        if broker:
            try:
                async with asyncio.timeout(_HANG_UP_SECONDS):
                    await broker.stop()
            except (AMQPError, OSError, TimeoutError, RuntimeError) as error:
                log.info("a connection ended roughly", tenant=self._delivery.slug, error=repr(error))
