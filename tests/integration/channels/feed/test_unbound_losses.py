"""What is live while no queue of a tenant takes it is lost to the tenant, who is notified once a queue is
bound again; a tenant that has bound nothing costs nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import aio_pika
import pytest

from app.amqp import relay
from app.broker.provisioning import tenant_user
from app.channels.feed.session import FeedSession
from app.domain.match import Match
from app.kit.clock import system_clock
from app.store import cursors
from app.store.connections import Store
from scripts.consumer import SEQS, Book, recover
from tests.faults.rig import Consumer, Rig, consume, consuming, until
from tests.integration.channels.feed.conftest import Running, tapped
from tests.integration.channels.feed.test_consistency import requesting, shown, truth
from tests.support.eventually import eventually
from tests.support.life import Life
from tests.support.story import Story

ALIVE = 0.5
NEVER = "no-such-vhost"
EXCHANGE, SDK_EXCHANGE = "oddsfeed", "oddinfeed"


@pytest.fixture
def no_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody takes is gone at once, and not only after some seconds."""
    monkeypatch.setattr(relay, "DETECTION_MILLIS", 0)


async def passed_over(rig: Rig, slug: str, seq: int) -> None:
    """Wait until the tenant's cursor, as it is saved, is beyond a change."""

    async def skipped() -> bool:
        async with rig.store.autocommit() as tx:
            places = {each.slug: each.seq for each in await cursors.statuses(tx)}
        return places[slug] >= seq

    await until("it is skipped", skipped)


async def until_bound(session: FeedSession) -> None:
    """Wait until the session knows that the tenant's client is bound: with `no_doubt` it passes over what was
    written before."""

    def bound() -> bool:
        found = [each.notice.bindings for each in session.relay.publishers.values()]
        return any(bindings.known and bindings.routes_live for bindings in found)

    await until("bound", bound)


@asynccontextmanager
async def connected_then_cut(
    rig: Rig, slug: str, url: str, match: Match, exchange: str = EXCHANGE, session: FeedSession | None = None
) -> AsyncIterator[Consumer]:
    """A client that was bound, received something, and was cut off."""
    async with consuming(url, exchange) as first:
        if session:
            await until_bound(session)
        [seq] = await rig.write_changes(match)
        await until("published", lambda: seq in first.seqs)
        await until("alive", lambda: first.alives)
        await rig.management.ensure_disconnected(tenant_user(slug), "cut")
        yield first


def check_notice(consumer: Consumer, missed: set[int]) -> None:
    """Exactly one, before any `alive` with `subscribed="1"` and before anything that is newer."""
    assert consumer.downs == 1
    assert b'subscribed="0"' in consumer.got[0].body
    assert not consumer.seqs & missed


@pytest.mark.usefixtures("no_doubt")
@pytest.mark.parametrize("exchange", [EXCHANGE, SDK_EXCHANGE])
@pytest.mark.parametrize("vhost", ["/", NEVER], ids=["events", "no events"])
async def test_a_client_that_was_cut_off_is_notified_once_it_is_bound_again(
    rig: Rig, feed: Running, vhost: str, exchange: str
) -> None:
    tenant, url = await rig.tenant()
    match = await rig.match()
    async with feed(alive_seconds=ALIVE, event_vhost=vhost) as session:
        async with connected_then_cut(rig, tenant.slug, url, match, exchange, session) as first:
            [publisher] = session.relay.publishers.values()
            await until("seen", lambda: not publisher.notice.bindings.routes_live)
            missed = set(await rig.write_changes(match, 5))
            await passed_over(rig, tenant.slug, max(missed))
        async with consuming(url, exchange) as second:
            await until("notified", lambda: second.downs)
            new = set(await rig.write_changes(match, 3))
            await until("new changes are published", lambda: second.seqs >= new)
            await until("and again alive", lambda: len(second.alives) > 6)
            check_notice(second, missed | first.seqs)


@pytest.mark.usefixtures("no_doubt")
async def test_its_book_ends_equal_to_rest(rig: Rig, store: Store, feed: Running) -> None:
    """A client that only recovers when it is notified, and to which nothing new happens after its cut."""
    tenant, url = await rig.tenant()
    life, book = Life(Story(store), 3), Book()
    book.after = system_clock()
    request_recovery = requesting(store, tenant)
    async with feed(alive_seconds=ALIVE) as session, asyncio.TaskGroup() as group:
        recovering = group.create_task(recover(book, request_recovery))
        async with listening(rig, url, book):
            await life.step(60)
            complete = await truth(store, life.matches)
            await until("all received", lambda: shown(book) == complete)
        [publisher] = session.relay.publishers.values()
        await until("seen", lambda: not publisher.notice.bindings.routes_live)
        await life.step(40)
        async with listening(rig, url, book):
            expected = await truth(store, life.matches)

            def different() -> bool:
                return bool(book.request) or shown(book) != expected

            assert different()
            await eventually(different, lambda differs: not differs, 30)
        recovering.cancel()


@asynccontextmanager
async def listening(rig: Rig, url: str, book: Book) -> AsyncIterator[None]:
    """The book receives what is published and does not treat a new connection as a reason to recover."""

    async def deliver(message: aio_pika.abc.AbstractIncomingMessage) -> None:
        book.receive(message.body, *(int(str(message.headers.get(name, 0))) for name in SEQS))

    async with await aio_pika.connect(url) as connection:
        await consume(await connection.channel(), rig.settings.exchange, deliver)
        yield


async def test_a_moment_s_cut_costs_no_message_that_was_not_on_its_way(rig: Rig, feed: Running) -> None:
    """What is live just then waits for a queue; the notice comes before it."""
    tenant, url = await rig.tenant()
    match = await rig.match()
    async with feed(alive_seconds=ALIVE) as session:
        async with connected_then_cut(rig, tenant.slug, url, match):
            [publisher] = session.relay.publishers.values()
            await until("seen", lambda: not publisher.notice.bindings.routes_live)
            meanwhile = set(await rig.write_changes(match, 2))
        async with consuming(url, rig.settings.exchange) as second:
            await until("all published", lambda: second.seqs >= meanwhile)
            assert second.downs == 1 and b'subscribed="0"' in second.got[0].body
            second.check_order()


@pytest.mark.usefixtures("no_doubt")
async def test_keys_that_are_bound_one_by_one_are_waited_for(rig: Rig, feed: Running) -> None:
    """A client that binds `alive` last, to a queue of its own, while another receives `alive` alone."""
    tenant, url = await rig.tenant()
    match = await rig.match()
    exchange = rig.settings.exchange
    async with AsyncExitStack() as stack:
        # With an interval that a busy machine may exceed twice, a notice would be right.
        session = await stack.enter_async_context(feed(alive_seconds=4 * ALIVE))
        other = await stack.enter_async_context(await aio_pika.connect(url))
        bystander = await (await other.channel()).declare_queue(f"{tenant.slug}.watch", exclusive=True)
        await bystander.bind(exchange, "-.-.-.alive.#")
        async with consuming(url, exchange) as first:
            await until_bound(session)
            [seq] = await rig.write_changes(match)
            await until("published", lambda: seq in first.seqs)
        [publisher] = session.relay.publishers.values()
        await until("seen", lambda: not publisher.notice.bindings.routes_live)
        missed = set(await rig.write_changes(match, 5))
        await passed_over(rig, tenant.slug, max(missed))
        assert not await reports_loss(bystander), "no notice while nobody takes what is live"
        channel = await (await stack.enter_async_context(await aio_pika.connect(url))).channel()
        consumer = Consumer(url, exchange)
        for key in ("hi.-.live.#", "-.-.-.alive.#"):
            await consume(channel, exchange, consumer.take, key)
        new = set(await rig.write_changes(match, 2))
        await until("new changes are published", lambda: consumer.seqs >= new)
        check_notice(consumer, missed)


async def reports_loss(queue: aio_pika.abc.AbstractQueue) -> bool:
    found = []
    while message := await queue.get(no_ack=True, fail=False):
        found.append(message.body)
    assert found, "alive was published"
    return any(b'subscribed="0"' in body for body in found)


@pytest.mark.parametrize("exchange", [EXCHANGE, SDK_EXCHANGE])
async def test_a_client_that_returns_is_notified_whatever_else_is_bound(
    rig: Rig, feed: Running, exchange: str
) -> None:
    """The notice reaches every queue, also that of the client which stayed: a recovery is idempotent."""
    _, url = await rig.tenant()
    match = await rig.match()
    async with feed(alive_seconds=ALIVE), consuming(url, exchange) as stays:
        await until("alive", lambda: stays.alives)
        async with consuming(url, exchange) as first:
            seqs = set(await rig.write_changes(match, 2))
            await until("published", lambda: first.seqs == seqs)
        seqs |= set(await rig.write_changes(match, 3))
        await until("the other one misses nothing", lambda: stays.seqs == seqs)
        async with consuming(url, exchange) as second:
            await until("notified", lambda: second.downs)
            await until("and again alive", lambda: len(second.alives) > 6)
            assert (second.downs, stays.downs) == (1, 1)


@pytest.mark.parametrize("one_by_one", [False, True])
async def test_each_of_three_clients_that_were_cut_is_notified_after_it_is_bound(
    rig: Rig, feed: Running, one_by_one: bool
) -> None:
    tenant, url = await rig.tenant()
    match = await rig.match()
    async with feed(alive_seconds=ALIVE) as session:
        async with AsyncExitStack() as cut:
            three = [await cut.enter_async_context(consuming(url, EXCHANGE)) for _ in range(3)]
            seqs = set(await rig.write_changes(match))
            await until("published", lambda: all(each.seqs == seqs for each in three))
            await rig.management.ensure_disconnected(tenant_user(tenant.slug), "cut")
        [publisher] = session.relay.publishers.values()
        await until("seen", lambda: not publisher.notice.bindings.routes_live)
        await rig.write_changes(match, 3)
        async with AsyncExitStack() as back:
            returned: list[Consumer] = []
            for _ in range(3):
                if returned and one_by_one:
                    await until("the one before was notified", lambda: returned[-1].downs)
                returned.append(await back.enter_async_context(consuming(url, EXCHANGE)))
            await until("notified", lambda: returned[-1].downs)
            await until("and again alive", lambda: len(returned[-1].alives) > 6)
            assert returned[-1].downs == 1


async def test_a_client_that_is_new_is_not_notified(rig: Rig, feed: Running) -> None:
    """It requests its first recovery by itself."""
    _, url = await rig.tenant()
    async with feed(alive_seconds=ALIVE), consuming(url, EXCHANGE) as first:
        await until("alive", lambda: first.alives)
        async with consuming(url, EXCHANGE) as second:
            await until("alive", lambda: len(second.alives) > 3)
            assert (first.downs, second.downs) == (0, 0)


@pytest.mark.usefixtures("no_doubt")
async def test_a_tenant_that_has_bound_nothing_costs_no_message(rig: Rig, feed: Running) -> None:
    tenant, url = await rig.tenant()
    match = await rig.match()
    async with tapped(rig) as tap, feed(alive_seconds=ALIVE):
        seqs = await rig.write_changes(match, 20)
        await passed_over(rig, tenant.slug, seqs[-1])
        assert tap.published() == 0
        async with consuming(url, rig.settings.exchange) as consumer:
            await until("alive", lambda: len(consumer.alives) > 1)
            [new] = await rig.write_changes(match)
            await until("published", lambda: new in consumer.seqs)
            assert consumer.downs == 0, "it has missed nothing that it was bound for"


async def test_the_notice_survives_a_feed_process_that_is_killed_while_no_queue_is_bound(rig: Rig) -> None:
    tenant, url = await rig.tenant()
    match = await rig.match()
    process = await rig.feed(ALIVE_SECONDS="1")
    async with connected_then_cut(rig, tenant.slug, url, match):
        missed = set(await rig.write_changes(match, 5))
        await passed_over(rig, tenant.slug, max(missed))
        await process.kill()
    await rig.feed(ALIVE_SECONDS="1")
    async with consuming(url, rig.settings.exchange) as second:
        await until("notified", lambda: second.downs)
        new = set(await rig.write_changes(match, 3))
        await until("new changes are published", lambda: second.seqs >= new)
        check_notice(second, missed)


async def test_queues_of_other_names_than_the_dead_process_knew_are_an_unbound_loss(rig: Rig) -> None:
    """Killed before the cut: no process saw what was lost with the queue, so a loss is assumed."""
    _, url = await rig.tenant()
    match = await rig.match()
    process = await rig.feed(ALIVE_SECONDS="1")
    async with consuming(url, rig.settings.exchange) as first:
        [seq] = await rig.write_changes(match)
        await until("published", lambda: seq in first.seqs)

        async def noted() -> bool:
            async with rig.store.autocommit() as tx:
                return bool(await tx.value("SELECT bound_queues <> '' AND seq >= $1 FROM tenant_cursor", seq))

        await until("noted", noted)
        await process.kill()
    async with consuming(url, rig.settings.exchange) as second:
        await rig.feed(ALIVE_SECONDS="1")
        await until("notified", lambda: second.downs)
        await until("and again alive", lambda: len(second.alives) > 3)
        assert second.downs == 1
