"""Counts and empties a queue, and looks for an exchange, over a tenant's connection, on a channel that
publishes nothing."""

import asyncio
from typing import Any

from pamqp import commands

from app.amqp.connection import BrokerError, ChannelClosed, PublisherConnection

_FIRST_NUMBER = 4
_SECONDS = 5.0
NOT_FOUND = 404  #: `ChannelClosed.code` for a queue or an exchange that does not exist


class QueueChannel:
    """A channel that is opened when it is needed, and anew after a failure: a refusal closes only it. The
    methods raise `ChannelClosed` (404: there is no such queue), `BrokerError` or `TimeoutError`."""

    def __init__(self, connection: PublisherConnection) -> None:
        self._connection = connection
        self._number, self._opened = _FIRST_NUMBER, False

    async def count(self, queue: str) -> int:
        """How many messages are in it."""
        declare = commands.Queue.Declare(queue=queue, passive=True)
        return int((await self._call(declare, commands.Queue.DeclareOk)).message_count)

    async def purge(self, queue: str) -> int:
        """Empty it; how many messages were in it."""
        return int(
            (await self._call(commands.Queue.Purge(queue=queue), commands.Queue.PurgeOk)).message_count
        )

    async def has_exchange(self, name: str) -> bool:
        """Whether there is an exchange of that name."""
        try:
            await self._call(
                commands.Exchange.Declare(exchange=name, passive=True), commands.Exchange.DeclareOk
            )
        except ChannelClosed as closed:
            if closed.code != NOT_FOUND:
                raise
            return False
        return True

    async def declare_transient_exchange(self, name: str) -> None:
        """Declare an exchange that ends with the broker."""
        declare = commands.Exchange.Declare(exchange=name, exchange_type="fanout", durable=False)
        await self._call(declare, commands.Exchange.DeclareOk)

    async def _call(self, request: Any, reply_type: type[Any]) -> Any:
        try:
            async with asyncio.timeout(_SECONDS):
                if not self._opened:
                    await self._connection.open_channel(self._number)
                    self._opened = True
                return await self._connection.call(request, reply_type, self._number)
        except (BrokerError, TimeoutError, asyncio.CancelledError) as error:
            # A reply may still come: it must not be taken for that of a later request.
            self._connection.abandon_channel(self._number, closed=isinstance(error, ChannelClosed))
            self._number, self._opened = self._number + 1, False
            raise
