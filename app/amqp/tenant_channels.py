"""The channels of a tenant's connection, beside that of live messages: two that publish single messages
(`alive`, and what recoveries replay), each with its own confirm, and one that counts and empties queues.

Live messages, which are written at once to the same socket, have priority. So each channel may have only a
little unconfirmed, behind which they would wait, and a replay even less while live messages wait long for
their confirms (`LiveDelay`).
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any, Self

import msgspec
from pamqp import commands

from app.amqp.connection import BrokerError, ChannelClosed, PublisherConnection
from app.amqp.frames import AmqpMessage, marshal

_LEAST_SECONDS = 0.01  #: a replay yields to no shorter wait than this
_TIMES_USUAL = 2.0  #: nor to one shorter than so many usual ones: durable queues confirm late
_MAX_SECONDS = 0.25  #: a longer wait counts as this: it is an outage
_SHARE = 1 / 64  #: the weight of a new confirm in the usual wait
MAX_UNCONFIRMED = 32  #: messages
MIN_UNCONFIRMED = 2  #: of a replay that yields: it never stops
MAX_BYTES = 128 * 1024
CONFIRM_SECONDS = 15.0
_YIELD_SECONDS = 0.05  #: between two halvings
_FIRST_NUMBER = 4
_ANSWER_SECONDS = 5.0
NOT_FOUND = 404  #: `ChannelClosed.code` for a queue or an exchange that does not exist
_ALIVE, _REPLAYED = 2, 3
_OPEN_SECONDS = 10.0


class LiveDelay:
    """How long live messages of this process wait for their confirms: the measure by which recoveries yield.

    `oldest` returns, for each tenant, since when (by `clock`) a live message waits for its confirm.
    `usual` (s) is the mean wait while nothing is replayed; `replaying` counts the tenants to which something
    is."""

    def __init__(
        self, oldest: Callable[[], Iterable[float | None]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.usual = 0.0
        self.replaying = 0
        self._oldest, self._clock = oldest, clock

    def confirmed(self, published_at: float) -> None:
        """A live message that was published then is confirmed."""
        if not self.replaying:
            self.usual += _SHARE * (min(_MAX_SECONDS, self._clock() - published_at) - self.usual)

    @property
    def long(self) -> bool:
        """Whether some live message waits so long that a replay must yield."""
        limit = self._clock() - max(_LEAST_SECONDS, _TIMES_USUAL * self.usual)
        return any(at is not None and at < limit for at in self._oldest())

    def share(self, window: int) -> int:
        """How many messages may be unconfirmed in each replay: twice the window of one, in all of them."""
        return min(window, 2 * window // max(1, self.replaying))


class Unroutable(Exception):
    """A mandatory message reached no queue."""


class _Unconfirmed(msgspec.Struct):
    done: asyncio.Future[bool]  #: whether the broker accepted it
    size: int
    at: float


class ConfirmedChannel:
    """A channel of `connection`, used from `open` on. `may_publish`: whether the tenant is certainly still
    ours; `live`: what this channel yields to, None where it does not.

    Messages are written in the order of the calls of `publish`."""

    def __init__(
        self,
        connection: PublisherConnection,
        number: int,
        may_publish: Callable[[], bool],
        live: LiveDelay | None = None,
    ) -> None:
        self._connection, self._number = connection, number
        self._may_publish, self._live = may_publish, live
        self._loop = asyncio.get_running_loop()
        self._unconfirmed: dict[int, _Unconfirmed] = {}
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._window, self._yielded_at = MAX_UNCONFIRMED, 0.0
        self._turn, self._changed = asyncio.Lock(), asyncio.Event()

    @property
    def unconfirmed(self) -> int:
        """How many messages are written and not confirmed yet."""
        return len(self._unconfirmed)

    async def open(self) -> None:
        """Open it; raises `BrokerError`."""
        await self._connection.open_channel(self._number, self)
        self._connection.ended.add_done_callback(self._ended)

    async def publish(self, message: AmqpMessage) -> None:
        """Publish, and return once the broker has confirmed. Raises `Unroutable`, or `BrokerError` when it
        did not accept the message. A confirm that does not come ends the connection; while the broker is
        blocked it is waited for, because what was written is accepted afterwards."""
        frames = marshal(message, self._connection.frame_max, self._number)
        async with self._turn:
            await self._room(len(frames))
            if not self._may_publish():
                raise BrokerError("the tenant is no longer ours")
            tag = self._connection.publish(frames, self._number)
        waiting = _Unconfirmed(self._loop.create_future(), len(frames), self._loop.time())
        self._count(bool(self._unconfirmed), True)
        self._unconfirmed[tag] = waiting
        self._bytes += waiting.size
        if self._timer is None:
            self._timer = self._loop.call_later(CONFIRM_SECONDS, self._check_confirms)
        if not await waiting.done:
            raise BrokerError("the broker rejected a message")
        if message.mandatory and self._connection.take_returned(message.message_id):
            raise Unroutable(message.routing_key)

    def confirmed(self, tag: int, multiple: bool) -> None:
        self._resolve(tag, multiple, accepted=True)

    def rejected(self, tag: int, multiple: bool) -> None:
        self._resolve(tag, multiple, accepted=False)

    def unblocked(self) -> None:
        self._changed.set()

    async def _room(self, size: int) -> None:
        """Wait until a message of that size may be written; raises `BrokerError` when nothing changes."""
        while not self._has_room(size):
            self._changed.clear()
            try:
                async with asyncio.timeout(CONFIRM_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                raise BrokerError(f"the broker accepts nothing: {self._connection.blocked}") from None
            if self._connection.ended.done():
                raise BrokerError(self._connection.ended.result())

    def _has_room(self, size: int) -> bool:
        if not self._connection.writable and not self._connection.ended.done():
            return False
        self._adapt()
        share = self._live.share(MAX_UNCONFIRMED) if self._live else MAX_UNCONFIRMED
        if len(self._unconfirmed) >= max(MIN_UNCONFIRMED, min(self._window, share)):
            return False
        return not self._unconfirmed or self._bytes + size <= MAX_BYTES

    def _adapt(self) -> None:
        """Halve the window every `_YIELD_SECONDS` while live messages wait; otherwise add one to it."""
        if self._live is None:
            return
        if not self._live.long:
            self._window = min(MAX_UNCONFIRMED, self._window + 1)
        elif self._loop.time() - self._yielded_at > _YIELD_SECONDS:
            self._window, self._yielded_at = max(MIN_UNCONFIRMED, self._window // 2), self._loop.time()

    def _check_confirms(self) -> None:
        """End the connection if the oldest message waits too long, not counting a blocked broker's time."""
        self._timer = None
        if not self._unconfirmed:
            return
        oldest = next(iter(self._unconfirmed.values())).at
        left = max(oldest, self._connection.unblocked_at) + CONFIRM_SECONDS - self._loop.time()
        if self._connection.blocked:
            left = CONFIRM_SECONDS
        if left <= 0:
            self._connection.abort(f"the broker has confirmed nothing for {CONFIRM_SECONDS:.0f} s")
        else:
            self._timer = self._loop.call_later(left, self._check_confirms)

    def _resolve(self, tag: int, multiple: bool, *, accepted: bool) -> None:
        tags = [each for each in self._unconfirmed if each <= tag] if multiple else [tag]
        for number in tags:
            if waiting := self._unconfirmed.pop(number, None):
                self._bytes -= waiting.size
                if not waiting.done.done():  # its publisher may have been cancelled
                    waiting.done.set_result(accepted)
                self._count(True, bool(self._unconfirmed))
        self._changed.set()

    def _ended(self, ended: asyncio.Future[str]) -> None:
        for waiting in self._unconfirmed.values():
            if not waiting.done.done():
                waiting.done.set_exception(BrokerError(ended.result()))
        self._count(bool(self._unconfirmed), False)
        self._unconfirmed.clear()
        self._changed.set()

    def _count(self, before: bool, now: bool) -> None:
        """Count this channel among those that replay while something of it is unconfirmed."""
        if self._live:
            self._live.replaying += now - before


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

    async def declare_topic_exchange(self, name: str) -> None:
        """Declare a durable topic exchange, if there is none; `ChannelClosed` for one of other properties."""
        declare = commands.Exchange.Declare(exchange=name, exchange_type="topic", durable=True)
        await self._call(declare, commands.Exchange.DeclareOk)

    async def declare_transient_exchange(self, name: str) -> None:
        """Declare an exchange that ends with the broker."""
        declare = commands.Exchange.Declare(exchange=name, exchange_type="fanout", durable=False)
        await self._call(declare, commands.Exchange.DeclareOk)

    async def _call(self, request: Any, reply_type: type[Any]) -> Any:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                if not self._opened:
                    await self._connection.open_channel(self._number)
                    self._opened = True
                return await self._connection.call(request, reply_type, self._number)
        except (BrokerError, TimeoutError, asyncio.CancelledError) as error:
            # A reply may still come: it must not be taken for that of a later request.
            self._connection.abandon_channel(self._number, closed=isinstance(error, ChannelClosed))
            self._number, self._opened = self._number + 1, False
            raise


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
            async with asyncio.timeout(_OPEN_SECONDS):
                await alive.open()
                await replayed.open()
        except TimeoutError as error:
            connection.abort("its channels were not opened in time")
            raise BrokerError(connection.ended.result()) from error
        except BaseException:
            connection.abort("opening its channels failed")
            raise
        return cls(alive, replayed, QueueChannel(connection))
