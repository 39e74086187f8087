"""Leases and slots that run out during a recovery: it completes, and nobody else's ends."""

from lxml import etree

from app.domain.match import Match
from app.domain.tenant import Tenant
from app.store import recovery_jobs
from app.store.connections import Store
from tests.faults.rig import Consumer, Rig, consuming, until
from tests.support.recoveries import ended, held_up, recover
from tests.support.story import Story

MATCHES = 60  #: more than a page: the second page is held up


def replayed(consumer: Consumer, request_id: str) -> list[str]:
    """The names of the messages that were replayed under a request id."""
    roots = [etree.fromstring(got.body) for got in consumer.replayed]
    return [str(root.tag) for root in roots if root.get("request_id") == request_id]


async def create_matches(rig: Rig, consumer: Consumer) -> list[Match]:
    story = Story(rig.store)
    created = [await story.match() for _ in range(MATCHES)]
    await until("alive", lambda: consumer.alives)
    return created


async def expire_lease(store: Store, tenant: Tenant) -> None:
    async with store.transaction() as tx:
        await tx.execute("UPDATE tenant_cursor SET expires_at = 1 WHERE tenant_id = $1", tenant.id)


async def test_the_lease_of_a_working_replayer_runs_out(rig: Rig, store: Store) -> None:
    tenant, url = await rig.tenant()
    await rig.feed()
    async with consuming(url, rig.settings.exchange) as consumer:
        created = await create_matches(rig, consumer)
        async with held_up(store, created[-1]):
            job = await recover(store, tenant, "5")
            await until("half is published", lambda: len(consumer.replayed) == 50)
            second = await rig.feed()
            await until("the second is there", lambda: second.logged("the feed session has begun"))
            await expire_lease(store, tenant)
            seqs = await rig.write_changes(created[0], 20)
            await until("live changes are published", lambda: consumer.seqs >= set(seqs))
        done = await ended(store, job)
        await until("complete", lambda: "snapshot_complete" in replayed(consumer, "5"))
    assert done.state == "completed"
    tags = replayed(consumer, "5")
    assert tags.count("snapshot_complete") == 1 and tags[-1] == "snapshot_complete"
    assert tags[-1 - MATCHES : -1] == ["odds_change"] * MATCHES, "the last run is whole"
    consumer.check_identity()
    consumer.check_order()


async def test_the_slot_of_a_working_replayer_runs_out(rig: Rig, store: Store) -> None:
    """After ten minutes another request is accepted; the slow one ends without ending the new one's turn."""
    tenant, url = await rig.tenant()
    await rig.feed()
    async with consuming(url, rig.settings.exchange) as consumer:
        created = await create_matches(rig, consumer)
        async with held_up(store, created[-1]):
            slow = await recover(store, tenant, "5")
            await until("half is published", lambda: len(consumer.replayed) == 50)
            async with store.transaction() as tx:
                await tx.execute("UPDATE recovery_slot SET expires_at = 1")
            quick = await recover(store, tenant, "6")
        assert {(await ended(store, each)).state for each in (slow, quick)} == {"completed"}
        await until("complete", lambda: "snapshot_complete" in replayed(consumer, "6"))
        await until("complete", lambda: "snapshot_complete" in replayed(consumer, "5"))
    for request_id in ("5", "6"):
        assert replayed(consumer, request_id) == ["odds_change"] * MATCHES + ["snapshot_complete"]
    async with store.transaction() as tx:
        third = await recovery_jobs.accept(tx, tenant.id, slow.request, 0, by="tester")
    assert quick.token == slow.token + 1 and third.token == quick.token + 1  # type: ignore[union-attr]
