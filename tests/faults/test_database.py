"""PostgreSQL breaks off in the middle, has no space left, or Redis is away: later, but all of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from lxml import etree

from app.store.connections import Store
from tests.faults import fold
from tests.faults.keys import issue
from tests.faults.rig import Consumer, Rig, consuming, until
from tests.support.databases import end_sessions
from tests.support.life import Life, Living
from tests.support.recoveries import ended, recover
from tests.support.story import Story, offer
from tests.support.web import serving

MATCHES = 230
NO_ROOM = """
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
END $$;
CREATE TRIGGER no_room BEFORE INSERT ON change EXECUTE FUNCTION no_room();
"""


async def test_connections_end_during_a_replay(rig: Rig, store: Store) -> None:
    tenant, url = await rig.tenant()
    story = Story(store)
    matches = [await story.match() for _ in range(MATCHES)]
    for match in matches[:30]:
        await story.offer(match, offer(1), offer(2))
        await story.settle(match, offer(1))
    await rig.feed(FEED_LEASE_MILLIS="30000")  # the sessions end, and not the lease
    async with consuming(url, rig.settings.exchange) as consumer:
        await until("alive", lambda: consumer.alives)
        job = await recover(store, tenant, "77", after=1)
        for count in (20, 90, 160):
            await until("some is published", lambda count=count: len(consumer.replayed) > count)
            await end_sessions(store)
        done = await ended(store, job)
        await until("complete", lambda: ".snapshot_complete." in consumer.got[-1].key)
    assert (done.state, done.attempts) == ("completed", 1)
    roots = [etree.fromstring(got.body) for got in consumer.replayed]
    odds = [root.get("event_id") for root in roots if root.tag == "odds_change"]
    assert sorted(odds) == sorted(f"od:match:{match.number}" for match in matches), "each once"
    assert sum(root.tag == "bet_settlement" for root in roots) == 30
    assert sum(root.tag == "snapshot_complete" for root in roots) == 1


async def test_connections_end_again_and_again(rig: Rig, store: Store) -> None:
    _, url = await rig.tenant()
    async with consuming(url, rig.settings.exchange) as consumer:
        process = await rig.feed()
        await until("alive", lambda: consumer.alives)
        story = Story(store)
        for _ in range(8):
            match = await story.match(offer(1), offer(2))
            await end_sessions(store)
            await story.settle(match, offer(1))
            await story.void(match, offer(2))
        await all_published(consumer, store)
        assert process.running and consumer.repeats == 0


async def all_published(consumer: Consumer, store: Store) -> None:
    everything = await fold.everything(store)
    await until("all has arrived", lambda: consumer.seqs >= everything)
    fold.check(consumer, await fold.ledger_of(store))


@asynccontextmanager
async def no_room(store: Store) -> AsyncIterator[None]:
    """Nothing can be added to the change log meanwhile."""
    async with store.transaction() as tx:
        await tx.execute(NO_ROOM)
    yield
    async with store.transaction() as tx:
        await tx.execute("DROP TRIGGER no_room ON change; DROP FUNCTION no_room()")


async def test_a_full_disk_leaves_nothing_half_written(rig: Rig, store: Store) -> None:
    """A change that cannot be written has no effect, and its whole effect when it is tried again."""
    _, url = await rig.tenant()
    async with consuming(url, rig.settings.exchange) as consumer:
        await rig.feed()
        await until("alive", lambda: consumer.alives)
        story = Story(store)
        match = await story.match(offer(1), offer(2))
        before = await fold.ledger_of(store), await fold.everything(store)
        async with no_room(store):
            for _ in range(3):
                with pytest.raises(Exception, match="DiskFullError"):
                    await story.settle(match, offer(1))
            assert (await fold.ledger_of(store), await fold.everything(store)) == before
        await story.settle(match, offer(1))
        await all_published(consumer, store)
        assert list((await fold.ledger_of(store)).values()) == ["won"]


async def test_redis_is_away(rig: Rig, store: Store) -> None:
    """Rates are not counted meanwhile; publishing and replaying do not notice."""
    away = msgspec.structs.replace(rig.settings, redis_url="redis://127.0.0.1:1/0")
    tenant, url = await rig.tenant()
    async with consuming(url, rig.settings.exchange) as consumer, serving(away) as client:
        await rig.feed(REDIS_URL=away.redis_url)
        await until("alive", lambda: consumer.alives)
        living = Living(Life(Story(store), 3))
        await living.more(30)
        key = (await issue(rig, tenant.slug)).raw
        answer = await client.post(
            "/cs2/v1/recovery/initiate_request?request_id=9", headers={"X-API-Key": key}
        )
        assert answer.status_code == 202, answer.text
        await until("complete", lambda: any(".snapshot_complete." in got.key for got in consumer.got))
        await living.end()
        await all_published(consumer, store)
