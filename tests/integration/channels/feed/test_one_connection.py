"""Live messages, `alive` and what is replayed reach a tenant over one connection."""

from app.store.connections import Store
from tests.faults.rig import Rig, consuming, until
from tests.integration.channels.feed.conftest import Running, tapped
from tests.support.recoveries import ended, recover
from tests.support.story import Story


async def test_all_kinds_share_a_connection(rig: Rig, store: Store, feed: Running) -> None:
    tenant, url = await rig.tenant()
    await Story(store).match()
    async with tapped(rig) as tap, consuming(url, rig.settings.exchange) as consumer, feed(alive_seconds=0.5):
        await until("alive", lambda: consumer.alives)
        for request_id in ("5", "6"):
            done = await ended(store, await recover(store, tenant, request_id))
            assert (done.state, done.attempts) == ("completed", 1)
        seqs = await rig.write_changes(await rig.match())
        await until("live", lambda: consumer.seqs >= set(seqs))
        count = len(consumer.alives)
        await until("alive again", lambda: len(consumer.alives) > count)
    [ours] = [written for written in tap.written if tenant.slug.encode() in written]
    for published in (b"alive", b"odds_change", b"snapshot_complete"):
        assert published in ours
