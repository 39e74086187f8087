"""A tenant's connection, restored for as long as we hold the tenant."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from app.amqp.connection import BrokerError, PublisherConnection, connect
from app.amqp.lease import LoginRefused, PublisherLogin
from app.amqp.tenant_channels import LiveDelay, TenantChannels
from app.amqp.tenant_publisher import TenantPublisher
from app.broker.provisioning import RUNNING
from app.kit.errors import Unavailable
from app.kit.logging import get_logger

_FIRST_SECONDS, _MAX_SECONDS = 0.1, 5.0
log = get_logger(__name__)


Prepare = Callable[[], Awaitable[None]]


async def keep_connected(
    publisher: TenantPublisher, login: PublisherLogin, prepare: Prepare, live: LiveDelay, on_restart: Prepare
) -> None:
    """Connect, and reconnect whenever the connection ends, for ever. Raises `LoginRefused`.

    `prepare` grants our user access to the vhost; it is called before each attempt. Recoveries yield to
    `live`. `on_restart` is called before anything is published when the broker was restarted since the tenant
    was last served; it persists that the tenant is to be notified, or raises `Unavailable`.
    """
    failures = 0
    try:
        while True:
            try:
                await prepare()
                connection, channels = await _connected(publisher, login, live, on_restart)
            except (BrokerError, OSError, Unavailable) as error:
                if str(error).startswith("403 ACCESS_REFUSED - Login"):
                    raise LoginRefused(str(error)) from error
                failures += 1
                publisher.last_error = str(error)
                log.warning(
                    "connecting to the vhost failed", tenant=publisher.slug, error=str(error), tries=failures
                )
                await asyncio.sleep(_pause(failures))
                continue
            failures = 0
            publisher.attach(connection, channels)
            why = await asyncio.shield(connection.ended)
            publisher.detach(why)
            log.warning("the connection to the vhost ended", tenant=publisher.slug, why=why)
    finally:
        if publisher.connection:
            await publisher.connection.close()
            publisher.detach("released")


async def _connected(
    publisher: TenantPublisher, login: PublisherLogin, live: LiveDelay, on_restart: Prepare
) -> tuple[PublisherConnection, TenantChannels]:
    """A connection with its channels, to a broker whose restart is known to the store."""
    connection = await connect(login.address, publisher.vhost, login.name, login.exchange, publisher)
    try:
        channels = await TenantChannels.open(
            connection,
            live,
            may_publish=lambda: publisher.leased,
            may_replay=lambda: publisher.leased and not publisher.releasing,
        )
        if not await channels.queues.has_exchange(RUNNING):
            await on_restart()
            await channels.queues.declare_transient_exchange(RUNNING)
    except BaseException:
        connection.abort("preparing the connection failed")
        raise
    return connection, channels


def _pause(failures: int) -> float:
    return float(min(_MAX_SECONDS, _FIRST_SECONDS * 2**failures) * random.uniform(0.5, 1))
