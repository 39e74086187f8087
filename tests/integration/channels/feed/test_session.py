"""The feed, from the change log to tenants' queues, on a real broker and a real database."""

import asyncio
import time
from contextlib import AsyncExitStack
from uuid import UUID

import msgspec
import pytest
from lxml import etree

from app.amqp.envelope import ALIVE_KEY
from app.amqp.lease import LeaseDeadline, LeaseLost, LoginRefused, PublisherLogin
from app.broker import broker_users
from app.broker.address import parse
from app.broker.management import Management
from app.channels.feed.session import FeedSession
from app.kit.background import retry_while_unavailable
from app.kit.errors import Unavailable
from app.store import cursors, tenants
from app.store.cursors import Checkpoint, LeasedTenant
from tests.faults.rig import Consumer, Rig, consuming, until
from tests.integration.channels.feed.conftest import Running, new_session
from tests.support.databases import end_sessions
from tests.support.processes import ROOT
from tests.support.tenants import book


async def listening(rig: Rig, stack: AsyncExitStack, count: int = 1) -> list[tuple[UUID, Consumer]]:
    found = []
    for _ in range(count):
        tenant, url = await rig.tenant()
        found.append((tenant.id, await stack.enter_async_context(consuming(url, rig.settings.exchange))))
    return found


async def test_an_envelope_arrives_valid(rig: Rig, feed: Running, consumer: Consumer) -> None:
    schema = etree.XMLSchema(etree.parse(ROOT / "schemas" / "feed.xsd"))
    async with feed():
        match = await rig.match()
        first, second = await rig.write_changes(match, 2)
        await until("both are there", lambda: consumer.seqs == {first, second})
        for got in consumer.got:
            schema.assertValid(etree.fromstring(got.body))
        one, two = consumer.live
        assert one.key == f"hi.-.live.odds_change.2.od:match.{match.number}.-"
        assert (one.seq, one.prev, one.message_id) == (first, 0, f"mf-{first}")
        assert (two.seq, two.prev, two.message_id) == (second, first, f"mf-{second}")


async def test_alive_reaches_every_tenant_from_the_first_second_and_goes_on(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        consumers = [consumer for _, consumer in await listening(rig, stack, 4)]
        began = time.monotonic()
        await stack.enter_async_context(feed(alive_seconds=0.5))
        await until("three each", lambda: all(len(each.alives) >= 3 for each in consumers))
        for each in consumers:
            assert each.alives[0].at - began < 2
            assert each.alives[1].at - each.alives[0].at == pytest.approx(0.5, abs=0.3)
            assert {got.key for got in each.alives} == {ALIVE_KEY}
            assert all(b'subscribed="1"' in got.body for got in each.alives)


async def test_it_can_be_stopped_while_the_broker_is_away(rig: Rig) -> None:
    async with Management("http://guest:guest@127.0.0.1:1") as away:
        session = new_session(rig, away)
        stopping = asyncio.Event()
        task = asyncio.create_task(session.run(stopping))
        await asyncio.sleep(0)
        stopping.set()
        await asyncio.wait_for(task, 60)


async def test_a_process_that_was_suspended_in_a_renewal_begins_anew(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meanwhile another process has expelled its broker user."""
    await rig.tenant()
    session = new_session(rig)
    task = asyncio.create_task(session.run(asyncio.Event()))
    await until("it serves the tenant", lambda: session.relay.publishers)

    async def suspended(*_: object) -> dict[UUID, int]:
        monkeypatch.setattr(session._lease, "_clock", lambda: time.monotonic() + 60)
        return {}

    monkeypatch.setattr(cursors, "renew", suspended)
    with pytest.raises(LeaseLost):
        await asyncio.wait_for(task, 60)


async def test_a_lease_that_expires_while_its_renewal_waits_is_lost(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint to a database that does not answer holds the lock, and another process takes over."""
    tenant, _ = await rig.tenant()
    session = new_session(rig)
    task = asyncio.create_task(session.run(asyncio.Event()))
    await until("it serves the tenant", lambda: session.relay.publishers)
    async with session.relay.lock:
        await until("a renewal waits", lambda: session.relay.lock._waiters)
        monkeypatch.setattr(session._lease, "_clock", lambda: time.monotonic() + 60)
        async with rig.store.transaction() as tx:
            await tx.execute("UPDATE tenant_cursor SET expires_at = 1")
            assert [one.tenant_id for one in await cursors.acquire(tx, "another", 1, 60_000)] == [tenant.id]
    with pytest.raises(LeaseLost):
        await asyncio.wait_for(task, 60)


async def test_a_process_whose_broker_user_is_gone_begins_anew(rig: Rig) -> None:
    await rig.tenant()
    session = new_session(rig)
    task = asyncio.create_task(session.run(asyncio.Event()))
    await until("it is connected", lambda: any(p.healthy for p in session.relay.publishers.values()))
    user = broker_users.publisher_user(session.holder)
    await rig.management.delete_user(user)
    await rig.management.close_user_connections(user, "test")
    with pytest.raises(LeaseLost) as error:
        await asyncio.wait_for(task, 60)
    assert isinstance(error.value.__cause__, ExceptionGroup)
    assert error.value.__cause__.subgroup(LoginRefused)


async def test_a_holder_before_one_that_crashed_is_expelled_too(
    rig: Rig, feed: Running, consumer: Consumer
) -> None:
    """The second took over and crashed before it had expelled the first, whose connection is still there."""
    async with rig.store.transaction() as tx:
        for holder in ("first", "second"):
            await broker_users.create_publisher_user(rig.management, holder)
            assert await cursors.acquire(tx, holder, 1, 60_000)
            await tx.execute("UPDATE tenant_cursor SET expires_at = 1")
    async with feed():
        await until("alive", lambda: consumer.alives)
        users = await rig.management.user_tags()
        assert not {broker_users.publisher_user(holder) for holder in ("first", "second")} & set(users)
        async with rig.store.autocommit() as tx:
            assert await tx.value("SELECT former_holders FROM tenant_cursor") == []


async def test_a_pending_loss_notice_is_published_by_the_next_holder(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        [(tenant, consumer)] = await listening(rig, stack)
        async with rig.store.transaction() as tx:
            [leased] = await cursors.acquire(tx, "one that ends", 1, 60_000)
            assert await cursors.checkpoint(
                tx, "one that ends", {tenant: Checkpoint(leased.epoch, 0, notice_pending=True)}
            )
            await cursors.release(tx, "one that ends", [tenant])
        await stack.enter_async_context(feed(alive_seconds=1))
        await until("published", lambda: len(consumer.alives) > 1)
        assert [b'subscribed="0"' in each.body for each in consumer.alives[:2]] == [True, False]

        async def notified() -> bool:
            async with rig.store.autocommit() as tx:
                return not await tx.value("SELECT notice_pending FROM tenant_cursor")

        await until("nothing is owed any more", notified)


async def test_a_new_tenant_is_served_from_then_on_without_a_restart(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(feed())
        match = await rig.match()
        await rig.write_changes(match)
        [(_, consumer)] = await listening(rig, stack)
        await until("alive", lambda: consumer.alives)
        later = await rig.write_changes(match)
        await until("published", lambda: consumer.live)
        assert consumer.seqs == set(later)


async def test_a_tenant_that_is_switched_off_receives_nothing_more(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        (gone, silent), (_, other) = await listening(rig, stack, 2)
        session = await stack.enter_async_context(feed())
        await until("alive", lambda: silent.alives and other.alives)
        async with rig.store.transaction() as tx:
            tenant = await tenants.get(tx, gone)
            assert tenant
            await tenants.save(tx, msgspec.structs.replace(tenant, active=False))
        await until("dropped", lambda: gone not in session.relay.publishers)
        seqs = await rig.write_changes(await rig.match())
        await until("the other is served", lambda: other.seqs == set(seqs))
        assert not silent.live


async def test_a_match_that_is_not_booked_is_withheld_from_that_tenant_only(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        (_, some), (_, everything) = await listening(rig, stack, 2)
        booked, unbooked = await rig.match(), await rig.match()
        await book(rig.store, unbooked, False, rig.slugs[0])
        await stack.enter_async_context(feed())
        first = [seq for one in (booked, unbooked, booked) for seq in await rig.write_changes(one)]
        await until("all published", lambda: everything.seqs == set(first) and len(some.live) == 2)
        assert some.seqs == {first[0], first[2]}


async def test_a_connection_that_is_closed_comes_back_and_nothing_is_lost(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        consumers = [consumer for _, consumer in await listening(rig, stack, 2)]
        session = await stack.enter_async_context(feed())
        match = await rig.match()
        seqs = set(await rig.write_changes(match, 20))
        await until("under way", lambda: all(each.live for each in consumers))
        for _ in range(3):
            await rig.management.close_user_connections(broker_users.publisher_user(session.holder), "test")
            seqs |= set(await rig.write_changes(match, 20))
        await until("all published", lambda: all(each.seqs == seqs for each in consumers))
        for each in consumers:
            each.check_identity()
            each.check_order()


async def test_a_tenant_far_behind_catches_up_in_order(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        (_, present), (_, behind) = await listening(rig, stack, 2)
        match = await rig.match()
        old = await rig.write_changes(match, 1300)
        async with rig.store.transaction() as tx:
            slug = rig.slugs[0]
            await tx.execute(
                "UPDATE tenant_cursor SET seq = $1 FROM tenant t WHERE t.id = tenant_id AND t.slug = $2",
                old[-1],
                slug,
            )
        await stack.enter_async_context(feed())
        new = await rig.write_changes(match, 5)
        await until("the present one is served", lambda: present.seqs == set(new))
        await until("the other has caught up", lambda: behind.seqs == {*old, *new})
        assert behind.repeats == 0
        behind.check_order()


async def test_pruned_changes_are_notified_as_a_loss(rig: Rig, feed: Running, consumer: Consumer) -> None:
    match = await rig.match()
    seqs = await rig.write_changes(match, 1300)
    async with rig.store.transaction() as tx:
        await tx.execute("DELETE FROM change WHERE seq <= $1", seqs[99])
    async with feed(alive_seconds=0.5):
        await until("the rest is published", lambda: consumer.seqs == set(seqs[100:]))
        await until("notified of the loss", lambda: consumer.downs)
        await until("alive again", lambda: b'subscribed="1"' in consumer.alives[-1].body)
        assert consumer.downs == 1


async def test_the_watchdog_notice_is_published_once(rig: Rig, feed: Running, consumer: Consumer) -> None:
    async with feed(alive_seconds=0.5):
        await until("alive", lambda: consumer.alives)
        rig.watch.dead_heartbeat = 7
        rig.watch.died.set()
        await until("down, then up", lambda: len(consumer.alives) >= 4)
        assert consumer.downs == 1


async def test_a_later_tenant_is_notified_of_the_death_too_and_none_twice(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        [(_, first)] = await listening(rig, stack)
        rig.watch.dead_heartbeat = 7
        async with feed(alive_seconds=0.5):
            await until("down, then up", lambda: first.downs and len(first.alives) >= 4)
            [(_, second)] = await listening(rig, stack)
            await until("down, then up", lambda: second.downs and len(second.alives) >= 4)
        count = len(first.alives)
        await stack.enter_async_context(feed(alive_seconds=0.5))
        await until("alive again", lambda: len(first.alives) >= count + 4)
        assert (first.downs, second.downs) == (1, 1)


async def test_cursors_are_saved_and_the_window_is_not_exceeded(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        [(tenant_id, consumer)] = await listening(rig, stack)
        await stack.enter_async_context(feed())
        match = await rig.match()
        seqs = await rig.write_changes(match, 200)

        async def saved() -> bool:
            async with rig.store.autocommit() as tx:
                cursor = await tx.value("SELECT seq FROM tenant_cursor WHERE tenant_id = $1", tenant_id)
                return bool(cursor == seqs[-1])

        await until("saved", saved)
        async with rig.store.autocommit() as tx:
            [standing] = await cursors.statuses(tx)
        assert standing.behind == 0 and standing.oldest is None
        await until("delivered", lambda: consumer.seqs == set(seqs))


async def test_two_sessions_share_and_neither_repeats(rig: Rig, feed: Running) -> None:
    async with AsyncExitStack() as stack:
        consumers = [consumer for _, consumer in await listening(rig, stack, 4)]
        one = await stack.enter_async_context(feed(lease_millis=2000))
        await until("alive", lambda: all(each.alives for each in consumers))
        two = await stack.enter_async_context(feed(lease_millis=2000))
        await until("shared", lambda: len(one.relay.publishers) == len(two.relay.publishers) == 2)
        match = await rig.match()
        seqs = set(await rig.write_changes(match, 30))
        await until("all published", lambda: all(each.seqs == seqs for each in consumers))
        assert [each.repeats for each in consumers] == [0] * 4


async def test_a_dead_process_is_taken_over_from_as_soon_as_its_lease_expires(
    rig: Rig, feed: Running
) -> None:
    """Not only when the own leases are renewed, which is after ten seconds here."""
    async with AsyncExitStack() as stack:
        [(_, consumer)] = await listening(rig, stack)
        async with rig.store.transaction() as tx:
            await cursors.create_missing(tx)
            assert len(await cursors.acquire(tx, "dead", 1, 1000)) == 1
            assert 0 < (await cursors.until_expiry(tx, "other") or 0) <= 1000
            assert await cursors.until_expiry(tx, "dead") is None
        began = time.monotonic()
        await stack.enter_async_context(feed(lease_millis=30_000))
        await until("alive", lambda: bool(consumer.alives))
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(("took", "pause"), [(0.4, 0.6), (2.5, -1.5)])
async def test_a_lease_is_renewed_a_third_of_it_after_the_last_renewal_began(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, took: float, pause: float
) -> None:
    """A slow renewal has used up most of its lease of three seconds: the next one follows at once."""
    session, now, pauses = new_session(rig), [100.0], list[float]()
    session._lease = LeaseDeadline(3000, lambda: now[0])

    async def renewing(_: FeedSession) -> list[LeasedTenant]:
        now[0] += took
        return []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        raise LeaseLost("enough")

    monkeypatch.setattr(FeedSession, "_renew", renewing)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(LeaseLost, match="enough"):
        await session._renew_leases(
            asyncio.TaskGroup(), PublisherLogin(parse(rig.settings.rabbitmq_url), "", "")
        )
    assert pauses == pytest.approx([pause])


async def test_changes_are_published_though_the_database_disconnects(
    rig: Rig, feed: Running, consumer: Consumer
) -> None:
    async with feed():
        match = await rig.match()
        seqs = set(await rig.write_changes(match, 5))
        for _ in range(3):
            await end_sessions(rig.store)
            for _ in range(5):
                # The writer's own sessions ended too: its transaction may be refused when it begins.
                seqs.update(await retry_while_unavailable("a change", lambda: rig.write_changes(match)))
        await until("all published", lambda: consumer.seqs == seqs)


async def test_a_tenant_is_served_though_the_reply_of_its_lease_was_lost(
    rig: Rig, feed: Running, monkeypatch: pytest.MonkeyPatch, consumer: Consumer
) -> None:
    """The database broke off after the commit."""
    round_, lost = FeedSession._renew, list[list[LeasedTenant]]()

    async def unanswered(session: FeedSession) -> list[LeasedTenant]:
        leased = await round_(session)
        if leased and not lost:
            lost.append(leased)
            raise Unavailable("the answer is lost")
        return leased

    monkeypatch.setattr(FeedSession, "_renew", unanswered)
    async with feed():
        seqs = set(await rig.write_changes(await rig.match(), 5))
        await until("all published", lambda: consumer.seqs == seqs)
        assert lost
