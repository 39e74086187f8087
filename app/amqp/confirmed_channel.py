"""Publishes single messages on a channel of a tenant's connection: `alive`, and what recoveries replay.

Each waits for its own confirm. Live messages, which are written at once to the same socket, come first: only
so much of a channel is unconfirmed at a time that little can lie before them, and while they wait long for
their confirms, less of a replay.
"""

import asyncio
from collections.abc import Callable

import msgspec

from app.amqp.connection import BrokerError, PublisherConnection
from app.amqp.frames import AmqpMessage, marshal
from app.amqp.live_delay import LiveDelay

MAX_UNCONFIRMED = 32  #: messages
MIN_UNCONFIRMED = 2  #: of a replay that yields: it goes on
MAX_BYTES = 128 * 1024
CONFIRM_SECONDS = 15.0
_YIELD_SECONDS = 0.05  #: between two halvings


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
        """Half the window, again after each while, as long as live messages wait; otherwise one more."""
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
