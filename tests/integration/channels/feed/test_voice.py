"""What tenants are told about the feed itself: overflow, lag, silence, and what health says meanwhile."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import aio_pika
import pytest

from app.channels.feed import health, retention
from app.kit.clock import system_clock
from app.kit.errors import Unavailable
from app.store import changes, cursors
from tests.faults.rig import Consumer, Rig, consuming, until, until_async
from tests.integration.channels.feed.conftest import Running

pytestmark = pytest.mark.anyio
ALIVE = 0.5


async def test_a_queue_that_overflows_is_told_once_and_nobody_is_locked_out(rig: Rig, feed: Running) -> None:
    tenant, url = await rig.tenant()
    async with AsyncExitStack() as stack:
        consumer = await stack.enter_async_context(overflowing(rig, url))
        await stack.enter_async_context(feed(alive_seconds=ALIVE))
        await until("alive", lambda: consumer.alives)
        match = await rig.match()
        seqs = set(await rig.write_changes(match, 30))
        await until("told", lambda: consumer.downs)
        seqs |= set(await rig.write_changes(match, 5))
        await until("all told", lambda: consumer.seqs == seqs)
        await until("and again alive", lambda: len(consumer.alives) > 8)
        assert consumer.downs == 1

        async def noted() -> bool:
            async with rig.store.reading() as tx:
                [standing] = await cursors.statuses(tx)
            return standing.dropped == 25 and not standing.state

        await until_async("noted", noted)


@pytest.mark.parametrize("emptied", [False, True])
async def test_a_loss_is_on_record_before_it_is_forgotten(
    rig: Rig, feed: Running, monkeypatch: pytest.MonkeyPatch, emptied: bool
) -> None:
    """Cut off before the queue of the losses is emptied, or when it was and the answer is lost: whoever holds
    the tenant next finds that a word is owed, and who holds it still says it."""
    _, url = await rig.tenant()
    owed, purge = list[bool](), aio_pika.RobustQueue.purge

    async def cut_off(queue: aio_pika.RobustQueue, **options: object) -> None:
        async with rig.store.reading() as tx:
            owed.append(await tx.value("SELECT owed FROM tenant_cursor"))
        if emptied:
            await purge(queue)
        raise ConnectionError("ended here")

    async with AsyncExitStack() as stack:
        consumer = await stack.enter_async_context(overflowing(rig, url))
        with monkeypatch.context() as patch:
            patch.setattr(aio_pika.RobustQueue, "purge", cut_off)
            await stack.enter_async_context(feed(alive_seconds=ALIVE))
            await until("alive", lambda: consumer.alives)
            await rig.write_changes(await rig.match(), 30)
            await until("counted", lambda: owed)
            assert all(owed) and not consumer.downs
        await until("told", lambda: consumer.downs)


async def test_a_loss_is_told_while_the_management_api_is_away(
    rig: Rig, feed: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_: str) -> None:
        raise Unavailable("The broker's management cannot be reached.")

    _, url = await rig.tenant()
    async with AsyncExitStack() as stack:
        consumer = await stack.enter_async_context(overflowing(rig, url))
        await stack.enter_async_context(feed(alive_seconds=ALIVE))
        await until("alive", lambda: consumer.alives)
        monkeypatch.setattr(rig.management, "queues", away)
        await rig.write_changes(await rig.match(), 30)
        await until("told", lambda: consumer.downs)


@asynccontextmanager
async def overflowing(rig: Rig, url: str) -> AsyncIterator[Consumer]:
    """A consumer that hears everything, beside a queue of ten messages that nobody reads."""
    async with consuming(url, rig.settings.exchange) as consumer, await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        small = await channel.declare_queue(exclusive=True, arguments={"x-max-length": 10})
        await small.bind(rig.settings.exchange, "hi.#")
        yield consumer


async def test_a_tenant_that_lags_too_far_is_moved_to_the_present_and_told(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        _, url = await rig.tenant()
        consumer = await stack.enter_async_context(consuming(url, rig.settings.exchange))
        match = await rig.match()
        await rig.write_changes(match, 20)
        async with rig.store.transaction() as tx:
            await tx.execute("UPDATE change SET at = at - 60001")
        young = await rig.write_changes(match, 3)
        await stack.enter_async_context(feed(alive_seconds=ALIVE, lag_millis=60_000))
        await until("told", lambda: consumer.downs)
        new = await rig.write_changes(match, 3)
        await until("told what is new", lambda: consumer.seqs >= set(new))
        await until("and again alive", lambda: len(consumer.alives) > 6)
        assert consumer.seqs <= {*young, *new} and consumer.downs == 1
        words = [b"alive" in each.body for each in consumer.got]
        [down] = [n for n, each in enumerate(consumer.got) if b'subscribed="0"' in each.body]
        assert down < words.index(False), "a client recovers from what it heard last"


async def test_after_a_long_silence_the_word_comes_before_anything_else(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        _, url = await rig.tenant()
        consumer = await stack.enter_async_context(consuming(url, rig.settings.exchange))
        seqs = await rig.write_changes(await rig.match(), 100)
        async with rig.store.transaction() as tx:
            await tx.execute("UPDATE tenant_cursor SET epoch = 1, said_at = said_at - 30000")
        await stack.enter_async_context(feed())
        await until("all told", lambda: consumer.seqs == set(seqs))
        assert b'subscribed="0"' in consumer.got[0].body
        assert consumer.downs == 1
        consumer.check_order()


async def test_health_is_red_while_alive_is_withheld(rig: Rig, feed: Running) -> None:
    async def said() -> str:
        return await health.feed_state(rig.store, system_clock, 1)

    async def told() -> bool:
        return await said() == health.OK

    assert await said() == health.OK, "there is nobody to be told"
    await rig.tenant()
    assert await said() == "no feed process is alive"
    async with feed(alive_seconds=ALIVE) as session:
        await until_async("well", told)
        for publisher in session.relay.publishers.values():
            publisher.connection, connection = None, publisher.connection
        async with rig.store.transaction() as tx:
            await tx.execute("UPDATE tenant_cursor SET said_at = said_at - 60000")
        assert await said() == "no tenant receives alive"
        for publisher in session.relay.publishers.values():
            publisher.connection = connection
        await until_async("well again", told)


async def test_what_is_too_old_is_forgotten_and_lagging_tenants_still_get_the_rest(
    rig: Rig, feed: Running
) -> None:
    async with AsyncExitStack() as stack:
        _, url = await rig.tenant()
        consumer = await stack.enter_async_context(consuming(url, rig.settings.exchange))
        match = await rig.match()
        old = await rig.write_changes(match, 20)
        async with rig.store.transaction() as tx:
            await tx.execute("UPDATE change SET at = at - 60001")
        young = await rig.write_changes(match, 3)
        kept = retention.RetentionConfig(changes=60_000, window=60_000)
        assert await retention.prune(rig.store, kept, system_clock()) == 2 * len(old)
        async with rig.store.reading() as tx:
            assert await changes.tail(tx) == old[-1] + 1
        await stack.enter_async_context(feed(alive_seconds=ALIVE))
        await until("told what is left", lambda: consumer.seqs == set(young))
        await until("told of the loss", lambda: consumer.downs)
