"""No ingest worker lives: everything is suspended, and stays so, and tenants are notified once."""

from app.channels.feed.process_watch import IngestWatchdog
from app.store import heartbeats
from app.store.connections import Store

START = 1_000_000


class Scene:
    """A watch with a clock that the test sets; counts what was done."""

    def __init__(self, store: Store) -> None:
        self.store, self.now = store, START
        self.suspended = self.notified = 0
        self.watch = IngestWatchdog(store, self.suspend, dead_seconds=15, clock=lambda: self.now)

    async def suspend(self) -> None:
        self.suspended += 1

    async def beat(self) -> None:
        async with self.store.transaction() as tx:
            await heartbeats.record(tx, "worker", heartbeats.INGEST, self.now)

    async def look_after(self, millis: int) -> None:
        self.now += millis
        await self.watch.check()
        self.notified += self.watch.died.is_set()
        self.watch.died.clear()


async def test_silence_counts_from_the_start_when_no_worker_ever_beat(store: Store) -> None:
    scene = Scene(store)
    await scene.look_after(15_000)
    assert scene.suspended == 0
    await scene.look_after(1)
    assert (scene.suspended, scene.notified) == (1, 1)


async def test_tenants_are_notified_once_and_matches_suspended_at_every_check_until_a_beat(
    store: Store,
) -> None:
    scene = Scene(store)
    await scene.beat()
    for _ in range(3):
        await scene.look_after(15_001)
    assert (scene.suspended, scene.notified) == (3, 1)
    await scene.beat()
    await scene.look_after(1_000)
    assert scene.suspended == 3
    await scene.look_after(15_000)
    assert (scene.suspended, scene.notified) == (4, 2)


async def test_another_kind_of_worker_does_not_count(store: Store) -> None:
    scene = Scene(store)
    scene.now += 15_001
    async with store.transaction() as tx:
        await heartbeats.record(tx, "feed", "feed", scene.now)
    await scene.watch.check()
    assert scene.suspended == 1


async def test_a_death_is_named_by_its_last_beat_as_long_as_it_lasts(store: Store) -> None:
    scene = Scene(store)
    await scene.beat()
    beat = scene.now
    assert scene.watch.dead_heartbeat is None
    for _ in range(2):
        await scene.look_after(15_001)
        assert scene.watch.dead_heartbeat == beat
    await scene.beat()
    await scene.look_after(1)
    assert scene.watch.dead_heartbeat is None
