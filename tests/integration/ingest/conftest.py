"""A match and the batches of its log, applied without a queue."""

from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count

import httpx
import pytest
from msgspec.structs import replace

from app.domain.match import Match
from app.ingest import worker
from app.ingest.batches import Batch
from app.ingest.consumer import PartitionAssignment
from app.ingest.log_update import IngestConfig, apply_batch
from app.settings import Settings
from app.store import history
from app.store.connections import Store, open_store
from tests.support import logs
from tests.support.clocks import ManualClock
from tests.support.matches import create_match
from tests.support.queues import empty
from tests.support.stored import present
from tests.support.web import issuing, serving

NOW = 1_800_000_000_000
CONFIG = IngestConfig()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """A worker's store, which caches matches."""
    async with await open_store(database_url, 4, 8) as store:
        yield store


async def tick(store: Store, now: int, queues_empty: Callable[[], Awaitable[bool]] = empty) -> None:
    """A worker's heartbeat and checks."""
    await worker.tick(store, PartitionAssignment("w1"), now, CONFIG, queues_empty)


@pytest.fixture
async def match(store: Store) -> Match:
    """An upcoming match between the two teams of `tests.support.logs`."""
    return await create_match(store, NOW, scheduled_at=NOW)


class Server:
    """Sends a match's log as one run of a game server, straight into `apply_batch`."""

    def __init__(self, store: Store, match: Match, instance: str = "run") -> None:
        self.store, self.match, self.instance = store, match, instance
        self.offset = 0
        self.now = NOW
        self._names = count()

    def cut(self, *lines: str) -> Batch:
        """The next range of the log, one second after the last."""
        text = logs.body(*lines, second=(self.now - NOW) // 1000)
        begin, self.offset = self.offset, self.offset + len(text)
        self.now += 1000
        return Batch(
            id=f"{self.instance}/{next(self._names)}",
            match_id=self.match.id,
            number=self.match.number,
            arrived_at=self.now,
            body=text,
            instance=self.instance,
            begin=begin,
            end=self.offset,
        )

    async def deliver(self, *batches: Batch, late: int = 0) -> list[str]:
        """Apply batches in this order, `late` ms after their arrival; the outcomes."""
        return [await apply_batch(self.store, batch, batch.arrived_at + late, CONFIG) for batch in batches]

    async def send(self, *lines: str) -> None:
        assert await self.deliver(self.cut(*lines)) == ["applied"]

    async def begin(self) -> None:
        """Play as far as a live first round with one kill."""
        await self.send(*logs.kick_off())
        await self.send(*logs.live())
        await self.send(logs.kill(logs.CT[0], logs.T[0]))

    async def win(self, ct_score: int, t_score: int) -> None:
        """CT wins the round, after which this is the score, and the next freeze time begins."""
        await self.send(*logs.ct_win(ct_score, t_score))
        await self.send(*logs.freeze(ct_score, t_score))

    async def state(self) -> Match:
        return await present(self.store, self.match)

    async def kills(self) -> int:
        """How many the timeline has."""
        async with self.store.autocommit() as tx:
            events = await history.timeline(tx, self.match.id)
        return [event.type for event in events].count("kill")

    async def score(self) -> tuple[int, int]:
        """Of home and away, on the present map."""
        present = (await self.state()).map
        assert present is not None
        return present.home_score, present.away_score


class Addressed(Server):
    """A game server that sends its address, as real ones do."""

    def __init__(self, like: Server, instance: str, address: str) -> None:
        super().__init__(like.store, like.match, instance)
        self.address, self.now = address, like.now

    def cut(self, *lines: str) -> Batch:
        return replace(super().cut(*lines), address=self.address, peer="198.51.100.1", map=logs.MAP)

    async def round(self, ct_score: int, t_score: int) -> None:
        """A round in the first half that CT, the home team, wins."""
        await self.send(*logs.live())
        await self.win(ct_score, t_score)


@pytest.fixture
def server(store: Store, match: Match) -> Server:
    return Server(store, match)


@pytest.fixture
async def client(settings: Settings, store: Store) -> AsyncIterator[httpx.AsyncClient]:
    """A client with an operator's key."""
    key = await issuing(store, settings.secret_key)("house", bundles=("cs2.operator",))
    async with serving(settings, lambda: NOW) as client:
        client.headers["X-API-Key"] = key
        yield client
