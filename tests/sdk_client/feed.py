"""The feed as SDKs follow it: two queues, a producer that is up or down by `alive`, recoveries, and nothing
else.

They know no sequence numbers, do not repeat a recovery that was refused, and start none after a short gap
unless they are notified.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from secrets import randbits
from typing import Any

import httpx
import msgspec
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage
from aio_pika.exceptions import AMQPError
from lxml import etree

from tests.sdk_client.api import Api, CallFailed, Identity
from tests.sdk_client.book import SdkBook
from tests.sdk_client.broker import BrokerAddress, logged_in
from tests.sdk_client.habits import PATIENT, Habits
from tests.sdk_client.names import Names, Unresolved
from tests.sdk_client.reading import problems

EXCHANGE = "oddinfeed"
_ALL = "*.*.*.*.*.*.*"
_INACTIVITY_SECONDS = 20.0
_LOOK_UP_SECONDS = 1.0  #: until another look-up of a name, while nobody answers
_TRY_SECONDS = 10.0  #: between two tries of a request that nobody answered
_LOST = (AMQPError, OSError, TimeoutError, RuntimeError)


class ProducerState(msgspec.Struct):
    """Whether the producer is up, since when (monotonic seconds), and why it went down last."""

    up: bool = False
    since: float = 0.0
    why: str = "not connected yet"


class FeedClient:
    """One client with its key: `run` connects and follows the feed until cancelled."""

    def __init__(
        self,
        api: Api,
        broker: BrokerAddress,
        identity: Identity,
        names: Sequence[Names] = (),
        *,
        node: int = 1,
        exchange: str = EXCHANGE,
        habits: Habits = PATIENT,
    ) -> None:
        self._api, self._broker, self._identity = api, broker, identity
        self._names, self._node, self._exchange = names, node, exchange
        self.habits = habits
        self.producer, self.book = ProducerState(), SdkBook()
        self.connected, self._connected_at = False, 0.0
        self.log: list[tuple[float, str]] = []
        #: Calls that failed and messages that cannot be read, names that cannot be shown, and why connections
        #: ended.
        self.failed, self.unresolved = Counter[str](), Counter[str]()
        self.refused = Counter[str]()
        self.named = 0
        #: Messages by their name as the user receives them, and the reasons of voids.
        self.handed_over, self.void_reasons = Counter[str](), Counter[str]()
        self.favourites = 0
        self.received, self.replayed = 0, 0
        self._request_id, self._recovery, self._known = randbits(31), 0, set[int]()
        self._requested_at = 0.0
        self._alive_at, self._alive_stamp, self._processed_stamp = float("-inf"), 0, 0
        self._cut_until = 0.0
        self._lost = asyncio.Event()
        self._to_name: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._seen: set[tuple[str | None, ...]] = set()
        self._posts: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Follow the feed, reconnecting for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch())
            group.create_task(self._name())
            while True:
                try:
                    await self._follow()
                except _LOST as error:
                    self.refused[f"{type(error).__name__}: {error}"[:80]] += 1
                self.connected = False
                wait = max(self.habits.reconnect_seconds, self._cut_until - time.monotonic())
                await asyncio.sleep(wait)

    @property
    def up_since(self) -> float:
        """Since when it is connected to a producer that is up (monotonic seconds); 0 if it is not."""
        return max(self.producer.since, self._connected_at) if self.connected and self.producer.up else 0.0

    def cut(self, seconds: float) -> None:
        """Lose the connection, and be able to reconnect after so many seconds only."""
        self._cut_until = time.monotonic() + seconds
        self._lost.set()

    async def _follow(self) -> None:
        """One connection: the session's queue, and a hidden one for `alive` alone."""
        self._lost.clear()
        async with logged_in(self._broker, self._api.key, self._identity.virtual_host) as connection:
            connection.close_callbacks.add(lambda *_: self._lost.set())
            session = [f"{_ALL}.{self._node}.#", f"{_ALL}.-.#", "-.-.-.alive.#"]
            session.append(f"-.-.-.snapshot_complete.-.-.-.{self._node}")
            channel = await connection.channel()
            await self._consume(channel, session, self._on_message)
            await self._consume(channel, ["-.-.-.alive.#"], self._on_system_alive)
            self.connected, self._connected_at = True, time.monotonic()
            self._note("connected")
            await self._lost.wait()
        self._note("disconnected")

    async def _consume(self, channel: AbstractChannel, keys: Sequence[str], receive: Any) -> None:
        queue = await channel.declare_queue(exclusive=True, auto_delete=True)
        for key in keys:
            await queue.bind(self._exchange, key)
        await queue.consume(receive, no_ack=True, exclusive=True)

    async def _on_message(self, message: AbstractIncomingMessage) -> None:
        root = etree.fromstring(message.body)
        assert len((message.routing_key or "").split(".")) == 8
        assert message.timestamp is not None, "an SDK takes it as the time of creation"
        assert message.headers["timestamp_in_ms"] == int(root.get("timestamp"))
        self.received += 1
        self.replayed += "request_id" in root.attrib
        if root.tag == "snapshot_complete":
            self._complete(int(root.get("request_id")), int(root.get("product")))
        elif root.tag != "alive":
            seq = message.headers.get("x-seq") or 0
            self._apply(root, int(str(seq)))

    def _apply(self, root: Any, seq: int) -> None:
        self.failed.update(problems(root))
        unparsable = root.tag == "bet_stop" and not self.habits.reads_bet_stop
        self.handed_over["unparsable" if unparsable else root.tag] += 1
        if unparsable:
            return
        self.book.apply(root, seq)
        if root.tag in ("odds_change", "bet_stop"):
            self._processed_stamp = max(self._processed_stamp, int(root.get("timestamp")))
        if root.tag == "fixture_change":
            for names in self._names:
                names.forget(root.get("event_id"))
        for market in root.iter("market"):
            self.favourites += market.get("favourite") == "1"
            of_market = (market.get(name) for name in ("id", "specifiers", "void_reason_id"))
            shown = root.get("event_id"), *of_market
            if shown not in self._seen:
                self._seen.add(shown)
                self._to_name.put_nowait((root.get("event_id"), market))

    async def _on_system_alive(self, message: AbstractIncomingMessage) -> None:
        root = etree.fromstring(message.body)
        if int(root.get("product")) != self._identity.product:
            return
        before = self._alive_stamp
        self._alive_at, self._alive_stamp = time.monotonic(), int(root.get("timestamp"))
        self._processed_stamp = max(self._processed_stamp, self._alive_stamp)
        if root.get("subscribed") == "0":
            self._down("alive with subscribed=0")
            self._recover(before)
        elif not self._recovery:
            self._recover(before)

    def _recover(self, after: int) -> None:
        """Request a recovery; an SDK counts it as begun before it sends the request."""
        now = time.time_ns() // 1_000_000
        if self.habits.always_after and not after:
            after = now - self._identity.window_minutes * 60_000
        if self.habits.whole_seconds:
            after -= after % 1000
        if not self.habits.one_request_id:
            self._request_id += 1
        self._recovery, self._requested_at = self._request_id, time.monotonic()
        self._known.add(self._recovery)
        self.book.begin(now)
        self._note(f"recovery {self._recovery} after {after}")
        task = asyncio.create_task(self._post(self._recovery, after))
        self._posts.add(task)
        task.add_done_callback(self._posts.discard)

    async def _post(self, request_id: int, after: int) -> None:
        others = {"node_id": self._node} | ({"after": after} if after else {})
        for last in (*[False] * (self.habits.tries - 1), True):
            try:
                await self._api.recover(self._identity.producer, request_id, **others)
                return
            except CallFailed as error:
                self.failed[f"recovery: {error}"[:120]] += 1
                self._note(f"recovery {request_id} failed: {error}")
                return
            except httpx.TransportError as error:
                self._note(f"recovery {request_id} not answered: {error!r}")
            if not last:
                await asyncio.sleep(_TRY_SECONDS)

    def _complete(self, request_id: int, product: int) -> None:
        if product == self._identity.product and request_id in self._known:
            if request_id == self._recovery:
                self.book.complete()
            self._note(f"snapshot_complete {request_id}")
            self._up()

    async def _watch(self) -> None:
        """Down after 20 s without `alive`, or when what is processed lags so far behind."""
        while True:
            await asyncio.sleep(1)
            if self._recovery and time.monotonic() - self._alive_at > _INACTIVITY_SECONDS:
                self._recovery = 0
                self._down("no alive")
            lag = time.time_ns() // 1_000_000 - self._processed_stamp
            waited = time.monotonic() - self._requested_at
            if self._recovery and not self.producer.up and 0 < self.habits.repeat_seconds < waited:
                self._recover(self._alive_stamp)
            late = self._processed_stamp and lag >= _INACTIVITY_SECONDS * 1000
            if late and self.producer.up:
                self._down("lag")
            elif not late and self.producer.why == "lag" and self._recovery:
                self._up()

    async def _name(self) -> None:
        """The names of all that the feed shows, in each language; a service that is away is waited for."""
        while True:
            event, market = await self._to_name.get()
            for names in self._names:
                await self._name_in(names, event, market)

    async def _name_in(self, names: Names, event: str, market: Any) -> None:
        while True:
            try:
                await names.match(event)
                self.named += len(await names.market(event, market))
                if market.get("void_reason_id"):
                    self.void_reasons[await names.void_reason(market)] += 1
                return
            except Unresolved as error:
                self.unresolved[str(error)] += 1
                return
            except CallFailed as error:
                self.failed[str(error)[:120]] += 1
                return
            except httpx.TransportError:
                await asyncio.sleep(_LOOK_UP_SECONDS)

    def _up(self) -> None:
        if not self.producer.up:
            self.producer = ProducerState(True, time.monotonic(), "")
            self._note("up")

    def _down(self, why: str) -> None:
        if self.producer.up or why != self.producer.why:
            self.producer = ProducerState(False, time.monotonic(), why)
            self._note(f"down: {why}")

    def _note(self, what: str) -> None:
        self.log.append((time.monotonic(), what))

    def count(self, what: str, since: int = 0) -> int:
        """How often something of that beginning happened since that place in the log."""
        return sum(text.startswith(what) for _, text in self.log[since:])

    async def until(self, what: str, true: Any, seconds: float) -> float:
        """For how many seconds `true` had to be waited for; fails after so many."""
        began = time.monotonic()
        while not true():
            waited = time.monotonic() - began
            assert waited < seconds, f"waited {waited:.1f} s in vain: {what}; {self.log[-8:]}"
            await asyncio.sleep(0.05)
        return time.monotonic() - began


@contextlib.asynccontextmanager
async def following(client: FeedClient) -> Any:
    """The client runs within the block."""
    task = asyncio.create_task(client.run())
    try:
        yield client
        if task.done():
            task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
