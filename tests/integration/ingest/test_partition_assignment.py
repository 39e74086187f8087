"""Several workers on the internal queues: each works its own; nothing is lost, doubled or out of order."""

import asyncio
import signal
import sys
from collections import Counter, defaultdict
from uuid import UUID

import pytest

from app.broker.management import Management
from app.ingest.batches import Batch
from app.ingest.consumer import PartitionAssignment, subscribe
from app.ingest.log_update import IngestConfig
from app.ingest.queues import PARTITIONS, IngestQueues
from app.ingest.worker import tick
from app.kit.errors import Unavailable
from app.settings import Settings
from app.store.connections import Store
from tests.support.eventually import eventually, succeeds
from tests.support.lengths import short_then_long
from tests.support.processes import ROOT
from tests.support.queues import empty, queues_of

NOW = 1_800_000_000_000
WORKER = """
import asyncio, sys
from app.ingest import queues as settings
from app.ingest.consumer import subscribe
from app.ingest.queues import IngestQueues, QueueConfig
from app.ingest.consumer import PartitionAssignment

async def handle(batch):
    print(batch.id, flush=True)

async def main():
    settings._HEARTBEAT_SECONDS = int(sys.argv[1])
    queues = IngestQueues(QueueConfig(*sys.argv[2:]))
    subscribe(queues, handle, PartitionAssignment("frozen"))
    async with queues:
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.ingest.queues._PUBLISH_SECONDS", 30)  # however slow this machine is


class Crew:
    """Workers that note who handled what, and whether two ever handled a batch of one queue at a time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.handled: list[tuple[str, Batch]] = []
        self.clashes: list[Batch] = []
        self._busy: set[int] = set()
        self._sent = 0

    def worker(self, name: str) -> tuple[IngestQueues, PartitionAssignment]:
        async def handle(batch: Batch) -> None:
            if batch.number in self._busy:
                self.clashes.append(batch)
            self._busy.add(batch.number)
            await asyncio.sleep(0)
            self.handled.append((name, batch))
            self._busy.discard(batch.number)

        queues, assignment = queues_of(self._settings), PartitionAssignment(name)
        subscribe(queues, handle, assignment)
        return queues, assignment

    async def send(self, publishing: IngestQueues, rounds: int, seconds: float = 20) -> None:
        """So many batches to each queue, and wait until all are handled."""
        for _ in range(rounds):
            await self.publish_round(publishing)
        await eventually(lambda: len(self.handled) >= self._sent * PARTITIONS, seconds=seconds)

    async def publish_round(self, publishing: IngestQueues) -> None:
        """One batch to each queue."""
        self._sent += 1
        for number in range(PARTITIONS):
            match_id = UUID(int=number)
            await publishing.publish(
                Batch(id=str(self._sent), match_id=match_id, number=number, arrived_at=0, body=b"")
            )

    def of_last_round(self) -> set[int]:
        """The queues whose batch of the last round was handled."""
        return {batch.number for _, batch in self.handled if int(batch.id) == self._sent}

    def whose(self, rounds: int) -> dict[str, set[int]]:
        """Which queues each worker had, in the last rounds sent."""
        seen = defaultdict(set)
        for name, batch in self.handled:
            if int(batch.id) > self._sent - rounds:
                seen[name].add(batch.number)
        return dict(seen)

    def in_order(self) -> bool:
        """Whether each queue's batches were handled once each, as they were sent."""
        of_queue = Counter(batch.number for _, batch in self.handled)
        ids = {number: [int(b.id) for _, b in self.handled if b.number == number] for number in of_queue}
        return not self.clashes and all(each == list(range(1, self._sent + 1)) for each in ids.values())


async def test_queues_are_reassigned_when_workers_come_and_go(private: Settings) -> None:
    crew = Crew(private)
    (first, a), (second, b), (third, c) = (crew.worker(name) for name in "abc")
    async with queues_of(private) as publishing, first:
        await publishing.ready()
        await first.ready()
        await crew.send(publishing, 3)
        assert crew.whose(3) == {"a": set(range(PARTITIONS))}
        async with second, third:
            await second.ready()
            await third.ready()
            for _ in range(3):  # a turn may go to the wrong one of those who wait, who passes it on
                for each in (a, b, c):
                    each.rebalance("abc")
                await crew.send(publishing, 5)
            assert crew.whose(2) == {"a": {0, 3, 6}, "b": {1, 4, 7}, "c": {2, 5}}
        for each in (a, b, c):
            each.rebalance("a")
        await crew.send(publishing, 3)
        assert crew.whose(3) == {"a": set(range(PARTITIONS))}
    assert crew.in_order()


async def test_a_queue_without_another_consumer_returns(private: Settings) -> None:
    crew = Crew(private)
    alone, assignment = crew.worker("b")
    async with queues_of(private) as publishing, alone:
        await publishing.ready()
        await alone.ready()
        for _ in range(4):
            assignment.rebalance("ab")  # "a" has just ended
            await crew.send(publishing, 5)
    assert crew.whose(20) == {"b": set(range(PARTITIONS))}
    assert crew.in_order()


async def test_a_lost_connection_returns_with_the_queues_that_were_yielded(
    private: Settings, management: Management
) -> None:
    crew = Crew(private)
    alone, assignment = crew.worker("b")
    vhost = private.rabbitmq_internal_vhost
    async with queues_of(private) as publishing, alone:
        await publishing.ready()
        await alone.ready()
        assignment.rebalance("ab")
        await crew.send(publishing, 2)
        assert not any(assignment.should_yield(number) for number in range(PARTITIONS))
        opened = await eventually(lambda: management.connections(vhost), lambda found: len(found) == 2)
        for connection in opened:
            await management.close_connection(connection, "a test")
        await eventually(lambda: succeeds(crew.publish_round(publishing), Unavailable))
        await eventually(crew.of_last_round, lambda found: found == set(range(PARTITIONS)), seconds=60)


@pytest.mark.parametrize("heartbeat", short_then_long([2, 10]))
async def test_the_queues_of_a_frozen_worker_are_anothers_within_seconds(
    private: Settings, heartbeat: int
) -> None:
    crew = Crew(private)
    second, _ = crew.worker("second")
    where = private.rabbitmq_url, private.rabbitmq_internal_vhost, private.rabbitmq_api_url
    frozen = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WORKER, str(heartbeat), *where), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        async with queues_of(private) as publishing:
            await publishing.ready()
            await publishing.publish(Batch(id="1", match_id=UUID(int=1), number=1, arrived_at=0, body=b""))
            assert frozen.stdout and await frozen.stdout.readline() == b"1\n"
            async with second:
                await second.ready()
                frozen.send_signal(signal.SIGSTOP)
                await crew.send(publishing, 1, seconds=45)  # the broker misses some heartbeats
    finally:
        frozen.kill()
        await frozen.wait()
    assert crew.whose(1) == {"second": set(range(PARTITIONS))}


async def test_workers_learn_of_each_other_by_their_beats(store: Store) -> None:
    a, b = PartitionAssignment("a"), PartitionAssignment("b")
    await tick(store, a, NOW, IngestConfig(), empty)
    assert not any(a.should_yield(queue) for queue in range(PARTITIONS))
    await tick(store, b, NOW, IngestConfig(), empty)
    await tick(store, a, NOW + 1000, IngestConfig(), empty)
    assert [queue for queue in range(PARTITIONS) if a.should_yield(queue)] == [1, 3, 5, 7]
    assert [queue for queue in range(PARTITIONS) if b.should_yield(queue)] == [0, 2, 4, 6]
    await tick(store, a, NOW + 6000, IngestConfig(), empty)
    assert not any(a.should_yield(queue) for queue in range(PARTITIONS))
