"""A bookmaker's client as the machine of `test_machine` plays it: what it receives waits until it is read.

Two queues, one for what is live and one for what is replayed: each preserves its order, and they
interleave in any way. A message may be read twice. What was not read when the connection broke is lost.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

import aio_pika
from aio_pika.abc import AbstractConnection, AbstractIncomingMessage

from app.domain.recovery import RecoveryKind
from app.domain.tenant import Tenant
from app.kit.clock import system_clock
from app.kit.errors import Conflict
from app.recovery.request import RecoveryParameters
from app.store.connections import Store
from scripts.consumer import OVERLAP_MILLIS, Book
from tests.faults import fold
from tests.faults.rig import consume
from tests.support.recoveries import service

LANES = {"live": ("hi.#", "-.-.-.alive.#"), "replay": ("lo.#", "-.-.-.snapshot_complete.#")}
Key = tuple[str, str, str]  #: match, market id, specifiers (of the bets of a window: with it)
Received = tuple[bytes, int, int]  #: body, x-seq, x-prev-seq


class Ledger(Book):
    """The reference client's book, and with it how markets ended, which bets are void, and where matches
    stand."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: dict[Key, tuple[int, str]] = {}
        self.statuses: dict[str, tuple[int, str]] = {}

    def apply(self, root: ET.Element, seq: int, prev: int) -> None:
        super().apply(root, seq, prev)
        match, at = root.get("event_id", ""), int(root.get("timestamp", "0"))
        for market in root.iter("market"):
            key = fold.key_of(root, market)
            if root.tag != "odds_change":
                outcome = fold.outcome_of(root.tag, market)
            elif market.get("status") in ("1", "-1"):
                outcome = "pending"
            else:
                continue
            self.ended[key] = max(self.ended.get(key, (0, "")), (at, outcome))
        if (state := root.find("sport_event_status")) is not None:
            status = (at, state.get("status", ""))
            self.statuses[match] = max(self.statuses.get(match, (0, "")), status)

    @property
    def offered(self) -> dict[Key, str]:
        """Price or `suspended` of every market that is open."""
        return {
            (match, *key): outcome
            for match, offers in self.offers.items()
            for key, (_, outcome) in offers.items()
            if outcome
        }

    @property
    def results(self) -> dict[Key, str]:
        return {key: outcome for key, (_, outcome) in self.ended.items() if outcome != "pending"}


class Bettor:
    """One tenant's client, which requests recoveries of one kind. `book` is what it makes of what it has
    read."""

    def __init__(self, store: Store, tenant: Tenant, url: str, exchange: str, kind: RecoveryKind) -> None:
        self._recoveries, self._tenant = service(store), tenant
        self._url, self._exchange, self._kind = url, exchange, kind
        self._connection: AbstractConnection | None = None
        self._requests = 0
        self.book = Ledger()
        self.book.after = system_clock()
        self.inbox: dict[str, deque[Received]] = {lane: deque() for lane in LANES}

    async def connect(self) -> None:
        """Lose what was not read, and begin anew: nothing may be offered until it is replayed."""
        await self.close()
        self._connection = await aio_pika.connect(self._url)
        for lane, bindings in LANES.items():
            self.inbox[lane] = deque()
            channel = await self._connection.channel()
            await consume(channel, self._exchange, self._receiver(self.inbox[lane]), *bindings)
        self.book.suspend()

    async def close(self) -> None:
        if self._connection:
            await self._connection.close()

    def read(self, lane: str, count: int, *, twice: bool = False) -> None:
        """Read up to `count` messages of a lane, each once or twice."""
        waiting = self.inbox[lane]
        for _ in range(min(count, len(waiting))):
            received = waiting.popleft()
            for _ in range(2 if twice else 1):
                self.book.receive(*received)

    async def recover(self) -> None:
        """Request what was missed, if that is due; what is refused stays due."""
        if not self.book.due.is_set():
            return
        self.book.due.clear()
        self._requests += 1
        self.book.request, self.book.replayed = str(self._requests), set()
        after = max(0, self.book.after - OVERLAP_MILLIS)
        try:
            parameters = RecoveryParameters(str(after), self.book.request)
            await self._recoveries.accept(self._tenant, self._kind, parameters, by="tester")
        except Conflict:
            self.book.due.set()

    @property
    def idle(self) -> bool:
        """Nothing is due and nothing is waited for."""
        return not self.book.due.is_set() and not self.book.request

    @staticmethod
    def _receiver(inbox: deque[Received]) -> Any:
        async def collect(message: AbstractIncomingMessage) -> None:
            inbox.append((message.body, *_numbers(message)))

        return collect


def _numbers(message: AbstractIncomingMessage) -> Iterator[int]:
    for name in ("x-seq", "x-prev-seq"):
        yield int(str(message.headers.get(name, 0)))
