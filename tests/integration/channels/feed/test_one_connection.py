"""Live messages, `alive` and what is replayed reach a tenant over one connection."""

from msgspec.structs import replace

from app.broker.address import parse
from app.store.connections import Store
from tests.faults.rig import Rig, consuming, until
from tests.integration.channels.feed.conftest import Running
from tests.support.recoveries import ended, recover
from tests.support.story import Story
from tests.support.tap import Tap


async def test_all_kinds_share_a_connection(rig: Rig, store: Store, feed: Running) -> None:
    tenant, url = await rig.tenant()
    await Story(store).match()
    broker = parse(rig.settings.rabbitmq_url)
    async with (
        Tap(broker.nodes[0].host, broker.nodes[0].port).open() as tap,
        consuming(url, rig.settings.exchange) as consumer,
    ):
        here, tapped = f"@{broker.nodes[0].host}:{broker.nodes[0].port}", f"@127.0.0.1:{tap.port}"
        rig.settings = replace(rig.settings, rabbitmq_url=rig.settings.rabbitmq_url.replace(here, tapped))
        async with feed(alive_seconds=0.5):
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
