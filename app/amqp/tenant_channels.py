"""The channels of a tenant's connection, beside that of live messages."""

import asyncio
from collections.abc import Callable
from typing import Self

import msgspec

from app.amqp.confirmed_channel import ConfirmedChannel
from app.amqp.connection import BrokerError, PublisherConnection
from app.amqp.live_delay import LiveDelay
from app.amqp.queue_channel import QueueChannel

_ALIVE, _REPLAYED = 2, 3
_SECONDS = 10.0


class TenantChannels(msgspec.Struct, frozen=True):
    """`alive` has a channel of its own, so that it is not behind what is replayed; `queues` counts what was
    lost, on a channel that the broker may close."""

    alive: ConfirmedChannel
    replayed: ConfirmedChannel
    queues: QueueChannel

    @classmethod
    async def open(
        cls,
        connection: PublisherConnection,
        live: LiveDelay,
        *,
        may_publish: Callable[[], bool],
        may_replay: Callable[[], bool],
    ) -> Self:
        """Open them; raises `BrokerError` and closes the connection if that fails, within 10 s."""
        alive = ConfirmedChannel(connection, _ALIVE, may_publish)
        replayed = ConfirmedChannel(connection, _REPLAYED, may_replay, live)
        try:
            async with asyncio.timeout(_SECONDS):
                await alive.open()
                await replayed.open()
        except TimeoutError as error:
            connection.abort("its channels were not opened in time")
            raise BrokerError(connection.ended.result()) from error
        except BaseException:
            connection.abort("opening its channels failed")
            raise
        return cls(alive, replayed, QueueChannel(connection))
