"""A tenant's connection, kept up for as long as the tenant is ours."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import msgspec

from app.amqp.connection import BrokerError, connect
from app.amqp.tenant_publisher import Delivery
from app.broker.address import Address
from app.kit.errors import Unavailable
from app.kit.logging import get_logger

_FIRST_SECONDS, _MOST_SECONDS = 0.1, 5.0
log = get_logger(__name__)


class ShutOut(Exception):
    """The broker does not know our user any more: another process has taken over."""


class Login(msgspec.Struct, frozen=True):
    """How every vhost is entered: who we are, how the connection is named, the exchange in it."""

    address: Address
    name: str
    exchange: str


Enter = Callable[[], Awaitable[None]]


async def keep_linked(delivery: Delivery, login: Login, enter: Enter) -> None:
    """Connect, and connect again whenever the connection ends, for ever. Raises `ShutOut`.

    `enter` sees to it that the vhost lets us in; it is called before each attempt.
    """
    failures = 0
    try:
        while True:
            try:
                await enter()
                connection = await connect(login.address, delivery.slug, login.name, login.exchange, delivery)
            except (BrokerError, OSError, Unavailable) as error:
                if str(error).startswith("403 ACCESS_REFUSED - Login"):
                    raise ShutOut(str(error)) from error
                failures += 1
                delivery.trouble = str(error)
                log.warning("no way into the vhost", tenant=delivery.slug, error=str(error), tries=failures)
                await asyncio.sleep(_pause(failures))
                continue
            failures = 0
            delivery.attach(connection)
            why = await asyncio.shield(connection.ended)
            delivery.detach(why)
            log.warning("the connection to the vhost ended", tenant=delivery.slug, why=why)
    finally:
        if delivery.connection:
            await delivery.connection.close()
            delivery.detach("let go")


def _pause(failures: int) -> float:
    return float(min(_MOST_SECONDS, _FIRST_SECONDS * 2**failures) * random.uniform(0.5, 1))
