"""What the feed notifies tenants of: overflow, lag, silence, and what health shows meanwhile."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import aio_pika
import pytest

from app.amqp.connection import BrokerError
from app.amqp.tenant_channels import QueueChannel
from app.channels.feed import process_watch, retention
from app.kit.clock import system_clock
from app.kit.errors import Unavailable
from app.store import changes, cursors
from tests.faults.rig import Consumer, Rig, consuming, until
from tests.integration.channels.feed.conftest import Running

ALIVE = 0.5


async def test_an_overflow_is_notified_once_and_publishing_continues(rig: Rig, feed: Running) -> None:
    tenant, url = await rig.tenant()
    async with overflowing(rig, url) as consumer, feed(alive_seconds=ALIVE):
        await until("alive", lambda: consumer.alives)
        match = await rig.match()
        seqs = set(await rig.write_changes(match, 30))
        await until("notified", lambda: consumer.downs)
        seqs |= set(await rig.write_changes(match, 5))
        await until("all published", lambda: consumer.seqs == seqs)
        await until("and again alive", lambda: len(consumer.alives) > 8)
        assert consumer.downs == 1

        async def noted() -> bool:
            async with rig.store.autocommit() as tx:
                [standing] = await cursors.statuses(tx)
            return standing.dropped == 25 and not standing.state

        await until("noted", noted)


@pytest.mark.parametrize("emptied", [False, True])
async def test_a_loss_is_recorded_before_its_count_is_cleared(
    rig: Rig, feed: Running, monkeypatch: pytest.MonkeyPatch, emptied: bool
) -> None:
    """Cut off before the queue of the losses is emptied, or when it was and the answer is lost: the
    next holder of the tenant finds a pending notice, and one that holds it still publishes it."""
    _, url = await rig.tenant()
    owed, downs, purge = list[bool](), list[int](), QueueChannel.purge

    async def cut_off(queues: QueueChannel, queue: str) -> int:
        async with rig.store.autocommit() as tx:
            owed.append(await tx.value("SELECT notice_pending FROM tenant_cursor"))
        downs.append(consumer.downs)
        if emptied:
            await purge(queues, queue)
        raise BrokerError("ended here")

    async with AsyncExitStack() as stack:
        consumer = await stack.enter_async_context(overflowing(rig, url))
        with monkeypatch.context() as patch:
            patch.setattr(QueueChannel, "purge", cut_off)
            await stack.enter_async_context(feed(alive_seconds=ALIVE))
            await until("alive", lambda: consumer.alives)
            await rig.write_changes(await rig.match(), 30)
            await until("counted", lambda: downs)
            assert all(owed) and not downs[0]
        await until("notified", lambda: consumer.downs)


async def test_a_loss_is_notified_while_the_management_api_is_away(
    rig: Rig, feed: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_: str) -> None:
        raise Unavailable("The broker's management cannot be reached.")

    _, url = await rig.tenant()
    async with overflowing(rig, url) as consumer, feed(alive_seconds=ALIVE):
        await until("alive", lambda: consumer.alives)
        monkeypatch.setattr(rig.management, "queues", away)
        await rig.write_changes(await rig.match(), 30)
        await until("notified", lambda: consumer.downs)


@asynccontextmanager
async def overflowing(rig: Rig, url: str) -> AsyncIterator[Consumer]:
    """A consumer that receives everything, beside a queue of ten messages that nobody reads."""
    async with consuming(url, rig.settings.exchange) as consumer, await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        small = await channel.declare_queue(exclusive=True, arguments={"x-max-length": 10})
        await small.bind(rig.settings.exchange, "hi.#")
        yield consumer


async def test_a_tenant_that_lags_too_far_is_moved_to_the_present_and_notified(
    rig: Rig, feed: Running, consumer: Consumer
) -> None:
    match = await rig.match()
    await rig.write_changes(match, 20)
    async with rig.store.transaction() as tx:
        await tx.execute("UPDATE change SET at = at - 61000")
    young = await rig.write_changes(match, 3)
    async with feed(alive_seconds=ALIVE, lag_millis=60_000):
        await until("notified", lambda: consumer.downs)
        new = await rig.write_changes(match, 3)
        await until("new changes are published", lambda: consumer.seqs >= set(new))
        await until("and again alive", lambda: len(consumer.alives) > 6)
        assert consumer.seqs <= {*young, *new} and consumer.downs == 1
        is_alive = [b"alive" in each.body for each in consumer.got]
        [down] = [n for n, each in enumerate(consumer.got) if b'subscribed="0"' in each.body]
        assert down < is_alive.index(False), "a client recovers from what it received last"


async def test_after_a_long_silence_the_notice_comes_before_anything_else(
    rig: Rig, feed: Running, consumer: Consumer
) -> None:
    seqs = await rig.write_changes(await rig.match(), 100)
    async with rig.store.transaction() as tx:
        await tx.execute("UPDATE tenant_cursor SET epoch = 1, last_alive_at = last_alive_at - 30000")
    async with feed():
        await until("all published", lambda: consumer.seqs == set(seqs))
        assert b'subscribed="0"' in consumer.got[0].body
        assert consumer.downs == 1
        consumer.check_order()


async def test_health_is_red_while_alive_is_withheld(rig: Rig, feed: Running) -> None:
    async def feed_state() -> str:
        return await process_watch.feed_state(rig.store, system_clock, 1)

    async def feed_is_well() -> bool:
        return await feed_state() == process_watch.OK

    assert await feed_state() == process_watch.OK, "there is no tenant to publish to"
    await rig.tenant()
    assert await feed_state() == "no feed process is alive"
    async with feed(alive_seconds=ALIVE) as session:
        await until("well", feed_is_well)
        for publisher in session.relay.publishers.values():
            publisher.connection, connection = None, publisher.connection
        async with rig.store.transaction() as tx:
            await tx.execute("UPDATE tenant_cursor SET last_alive_at = last_alive_at - 60000")
        assert await feed_state() == "no tenant receives alive"
        for publisher in session.relay.publishers.values():
            publisher.connection = connection
        await until("well again", feed_is_well)


async def test_old_changes_are_pruned_and_lagging_tenants_still_receive_the_rest(
    rig: Rig, feed: Running, consumer: Consumer
) -> None:
    match = await rig.match()
    old = await rig.write_changes(match, 20)
    async with rig.store.transaction() as tx:
        await tx.execute("UPDATE change SET at = at - 61000")
    young = await rig.write_changes(match, 3)
    config = retention.RetentionConfig(changes_millis=60_000, recovery_window_millis=60_000, kept_millis=0)
    assert await retention.prune(rig.store, config, system_clock()) == 2 * len(old)
    async with rig.store.autocommit() as tx:
        assert await changes.oldest(tx) == old[-1] + 1
    async with feed(alive_seconds=ALIVE):
        await until("the rest is published", lambda: consumer.seqs == set(young))
        await until("notified of the loss", lambda: consumer.downs)
