"""The broker ends, dies, or takes nothing any more: the outbox waits, `alive` too, and all comes after."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from app.broker.permissions import tenant_user
from app.channels.feed import process_watch
from app.kit.clock import system_clock
from app.settings import Settings
from app.store import cursors
from app.store.connections import Store
from tests.faults import fold
from tests.faults.broker import PrivateBroker
from tests.faults.rig import Consumer, Rig, consuming, rigged, subscribed, until
from tests.support import stored
from tests.support.lengths import short_then_long
from tests.support.life import Life, Living
from tests.support.story import Story

ALIVE = 1
TENANTS = 2
Fault = Callable[[Rig, PrivateBroker, Sequence[Consumer]], Awaitable[int]]


@pytest.fixture
async def rig(settings: Settings, store: Store, tmp_path: Path, broker: PrivateBroker) -> AsyncIterator[Rig]:
    async with rigged(broker.used_by(settings), store, tmp_path) as rig:
        yield rig


async def listening(rig: Rig, stack: AsyncExitStack) -> list[Consumer]:
    found = []
    for _ in range(TENANTS):
        tenant, url = await rig.tenant()
        subscription = subscribed(url, rig.settings.exchange, tenant.slug)
        found.append(await stack.enter_async_context(subscription))
    return found


async def well(rig: Rig) -> bool:
    return await process_watch.feed_state(rig.store, system_clock, ALIVE) == process_watch.OK


def missing_for(consumer: Consumer) -> float:
    """For how many seconds the consumer has received no `alive`."""
    return time.monotonic() - consumer.alives[-1].at


async def ill(rig: Rig) -> bool:
    return not await well(rig)


async def red(rig: Rig, consumers: Sequence[Consumer]) -> int:
    """Wait until health is red and every client considers us down; the newest change by then. Health knows
    when `alive` was last published as of the last report only, and may be red sooner."""
    await until("health is red", lambda: ill(rig))
    await until("alive is missing", lambda: all(missing_for(each) > 2 * ALIVE for each in consumers))
    return await stored.head(rig.store)


async def stop_and_start(rig: Rig, broker: PrivateBroker, consumers: Sequence[Consumer]) -> int:
    await broker.stop()
    head = await red(rig, consumers)
    await broker.start()
    return head


async def kill_and_start(rig: Rig, broker: PrivateBroker, consumers: Sequence[Consumer]) -> int:
    await broker.kill()
    head = await red(rig, consumers)
    await broker.start()
    return head


async def starve_and_feed(rig: Rig, broker: PrivateBroker, consumers: Sequence[Consumer]) -> int:
    await broker.starve()
    head = await red(rig, consumers)
    await broker.feed()
    return head


@pytest.mark.parametrize("fault", short_then_long([kill_and_start, starve_and_feed, stop_and_start], 2))
async def test_nothing_is_lost_and_every_tenant_is_notified_once(
    rig: Rig, broker: PrivateBroker, fault: Fault
) -> None:
    async with AsyncExitStack() as stack:
        consumers = await listening(rig, stack)
        await rig.feed(ALIVE_SECONDS=str(ALIVE))
        await until("every tenant receives alive", lambda: all(each.alives for each in consumers))
        living = Living(Life(Story(rig.store), 1), pause=0.02)
        await living.more(20)
        downs = [each.downs for each in consumers]
        counts = [len(each.got) for each in consumers]
        head = await fault(rig, broker, consumers)
        await living.more(20)
        await until("health is green", lambda: well(rig), 60)
        await living.end()
        everything, kept = await fold.everything(rig.store), await fold.persistent(rig.store)
        if fault is starve_and_feed:
            kept = everything
        kept |= {seq for seq in everything if seq > head}
        await until("all that is kept has arrived", lambda: all(each.seqs >= kept for each in consumers), 60)
        ledger = await fold.ledger_of(rig.store)
        for each in consumers:
            fold.check(each, ledger)
        print(f"{fault.__name__}: repeated {[each.repeats for each in consumers]} of {len(everything)}")
        assert [each.downs for each in consumers] == [before + 1 for before in downs]
        for each, count in zip(consumers, counts, strict=True):
            check_the_notice_came_first(each, count, head)


@pytest.mark.long
async def test_odds_that_a_restart_took_from_a_durable_queue_are_notified(
    rig: Rig, broker: PrivateBroker
) -> None:
    """Before anything newer; what is settled waits in the queue. No client was there, and none was without
    `alive` for long enough to consider us down. A tenant that never had a queue has lost nothing."""
    async with AsyncExitStack() as stack:
        tenant, url = await rig.tenant()
        without_queue, _ = await rig.tenant()
        match = await rig.match()
        feed = await rig.feed(ALIVE_SECONDS="600")
        async with subscribed(url, rig.settings.exchange, tenant.slug) as consumer:
            await until("alive", lambda: consumer.alives)
            [first] = await rig.write_changes(match)
            await until("published", lambda: first in consumer.seqs)
        lost = await rig.write_changes(match, 3)

        async def waits() -> bool:
            queues = await rig.management.queues(tenant.slug)
            return any(each.name == f"{tenant.slug}.feed" and each.ready >= len(lost) for each in queues)

        await until("the odds wait in the durable queue", waits)
        await broker.stop()
        await broker.start()
        await until("the feed is back", lambda: feed.logged("the broker was restarted"), 60)
        [later] = await rig.write_changes(match)
        returned = await stack.enter_async_context(subscribed(url, rig.settings.exchange, tenant.slug))
        await until("what is newer arrives", lambda: later in returned.seqs, 60)
        assert returned.downs == 1 and not set(lost) & returned.seqs
        [notice] = returned.notices
        assert all(got.seq is None for got in returned.got[:notice])

        async def connected() -> bool:
            async with rig.store.autocommit() as tx:
                status = await cursors.status_of(tx, without_queue.id)
            assert status is not None and not status.notice_pending
            return not status.state

        await until("the other tenant is connected", connected, 60)


def check_the_notice_came_first(consumer: Consumer, count: int, head: int) -> None:
    """The notice comes before anything beyond `head`, the newest change when health was red, and what waited
    meanwhile follows it."""
    notice = consumer.notices[-1]
    later = [got.seq for got in consumer.got[notice:] if got.seq is not None]
    before = [got.seq for got in consumer.got[:notice] if got.seq is not None]
    assert notice >= count and later, "what waited came before the notice"
    assert not [seq for seq in before if seq > head]
    assert max(before) < max(later)


async def test_a_connection_that_has_ended_and_is_still_listed_holds_nothing_up(
    rig: Rig, broker: PrivateBroker
) -> None:
    """RabbitMQ may list it for as long as the node runs. The others of its user are closed all the same."""
    tenant, url = await rig.tenant()
    user = tenant_user(tenant.slug)
    await broker.list_an_ended_connection(user, tenant.slug)
    async with consuming(url, rig.settings.exchange):
        await until("both are listed", lambda: listed(rig, user, 2))
        await rig.management.ensure_disconnected(user, "a test")
        assert await listed(rig, user, 1)


async def listed(rig: Rig, user: str, count: int) -> bool:
    return await rig.management.connection_count(user) == count
