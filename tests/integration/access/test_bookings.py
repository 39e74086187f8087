"""What giving a match back, and booking it again, write: the tenant's last and first message of it."""

import asyncio
from uuid import uuid4

import pytest

from app.access.feed_selection import set_booked
from app.channels.feed import retention
from app.channels.feed.retention import RetentionConfig
from app.domain.market import MarketStatus
from app.domain.match import Match
from app.domain.tenant import Tenant
from app.kit.clock import system_clock
from app.store import changes, matches, tenants
from app.store.changes import ChangeRow
from app.store.connections import Store
from tests.support.stored import changes_after, head
from tests.support.story import Story, offer
from tests.support.tenants import book, switch

OTHER = 1
ACTIVE, SUSPENDED = MarketStatus.ACTIVE, MarketStatus.SUSPENDED


async def new_tenant(store: Store, slug: str, *, amqp: bool) -> Tenant:
    async with store.transaction() as tx:
        tenant = Tenant(uuid4(), slug, slug, amqp=amqp)
        await tenants.insert(tx, tenant, 1)
    return tenant


@pytest.fixture
async def tenant(store: Store) -> Tenant:
    return await new_tenant(store, "acme", amqp=True)


async def own_rows(store: Store, after: int = 0) -> list[ChangeRow]:
    return [row for row in await changes_after(store, after) if changes.tenant_of(row)]


def listed(rows: list[ChangeRow]) -> dict[str, MarketStatus]:
    """The markets of these rows by specifiers, with their status."""
    found = [changes.decode_tenant_market(row.body) for row in rows if row.entity == "feed_market"]
    return {one.specifiers: one.status for one in found}


def keyed(**rounds: MarketStatus) -> dict[str, MarketStatus]:
    return {offer(int(name[1:])).specifiers: status for name, status in rounds.items()}


async def test_the_last_message_suspends_what_was_active(store: Store, story: Story, tenant: Tenant) -> None:
    """It has a place after all that was published, and a newer timestamp; up to it the match is booked."""
    match = await story.match(offer(1), offer(2), offer(3), offer(4, status=SUSPENDED))
    await story.settle(match, offer(3))
    before = story.at
    assert await book(store, match, False)
    place, *own = await own_rows(store)
    assert (place.entity, place.match_id) == ("booking", changes.NO_MATCH)
    assert listed(own) == keyed(_1=SUSPENDED, _2=SUSPENDED)
    assert {changes.tenant_of(row) for row in (place, *own)} == {tenant.id}
    assert {row.envelope_seq for row in own} == {own[-1].seq} and own[0].seq > place.seq
    assert min(row.at for row in own) > before and {row.frame + row.message for row in own} == {""}
    async with store.autocommit() as tx:
        assert {row.prev_seq for row in own} == {(await matches.by_ref(tx, str(match.id))).last_seq}
        assert await tenants.unbooked(tx) == {(tenant.id, match.id): own[-1].seq}
    await story.offer(match, offer(1))
    assert story.at > own[-1].at


async def test_booked_again_lists_what_is_open(store: Store, story: Story, tenant: Tenant) -> None:
    match = await story.match(offer(1), offer(2))
    await book(store, match, False)
    await story.settle(match, offer(1))
    await story.offer(match, offer(2, status=SUSPENDED), offer(3))
    given_back_to = await head(store)
    assert await book(store, match, True)
    place, *own = await own_rows(store, given_back_to)
    assert place.entity == "booking" and listed(own) == keyed(_2=SUSPENDED, _3=ACTIVE)
    async with store.autocommit() as tx:
        assert await tenants.unbooked(tx) == {}


async def test_what_was_left_out_is_known_as_long_as_the_log_has_it(
    store: Store, story: Story, tenant: Tenant
) -> None:
    match = await story.match(offer(1))
    gaps = []
    for _ in range(2):
        await book(store, match, False)
        async with store.autocommit() as tx:
            last = (await tenants.unbooked(tx))[tenant.id, match.id]
        await story.offer(match, offer(1))
        before = await head(store)
        await book(store, match, True)
        [place, *_] = await own_rows(store, before)
        gaps.append((last, place.seq))
    async with store.autocommit() as tx:
        assert sorted((await tenants.booking_gaps(tx))[tenant.id, match.id]) == gaps
        assert not await tenants.prune_booking_gaps(tx, gaps[0][1])
    config = RetentionConfig(changes_millis=-(2**61), recovery_window_millis=0, kept_millis=0)
    await retention.prune(store, config, 0)
    async with store.autocommit() as tx:
        assert not await tenants.booking_gaps(tx)


async def test_what_changes_nothing_writes_nothing(store: Store, story: Story, tenant: Tenant) -> None:
    match = await story.match(offer(1))
    assert not await book(store, match, True)
    assert await book(store, match, False)
    present = await head(store)
    assert not await book(store, match, False)
    assert await head(store) == present


async def test_without_anything_active_there_is_no_message(
    store: Store, story: Story, tenant: Tenant
) -> None:
    match, closed = await story.match(), await story.match()
    await story.offer(closed, offer(1, status=SUSPENDED), offer(2))
    await story.settle(closed, offer(2))
    for one in (match, closed):
        await book(store, one, False)
    rows = await own_rows(store)
    assert [row.entity for row in rows] == ["booking", "booking"]
    async with store.autocommit() as tx:
        unbooked = await tenants.unbooked(tx)
    assert unbooked == {(tenant.id, one.id): row.seq for one, row in zip((match, closed), rows, strict=True)}


async def test_without_a_vhost_nothing_was_published(store: Store, story: Story) -> None:
    await new_tenant(store, "website", amqp=False)
    match = await story.match(offer(1))
    for booked in (False, True):
        await book(store, match, booked, "website")
    assert {row.entity for row in await own_rows(store)} == {"booking"}


async def test_types_that_are_off_are_suspended_already(store: Store, story: Story, tenant: Tenant) -> None:
    match = await story.match()
    other = offer(1, type_id=OTHER)
    await story.offer(match, offer(1), other)
    await switch(store, False)
    await story.offer(match, offer(2))
    switched = await head(store)
    await book(store, match, False)
    own = (await own_rows(store, switched))[1:]
    assert [changes.decode_tenant_market(row.body).type_id for row in own] == [OTHER]
    given_back_to = await head(store)
    await book(store, match, True)
    own = (await own_rows(store, given_back_to))[1:]
    shown = [changes.decode_tenant_market(row.body) for row in own]
    assert [(one.type_id, one.status) for one in shown] == [(OTHER, ACTIVE), (13, SUSPENDED)]
    assert offer(2).specifiers not in {one.specifiers for one in shown if one.type_id == 13}


async def test_the_match_is_locked_so_that_nothing_opens_between(
    store: Store, story: Story, tenant: Tenant
) -> None:
    """Whatever is opened after the last message's markets were read has a place after it."""
    match = await story.match(offer(1))
    async with store.transaction() as tx:
        await set_booked(tx, "acme", str(match.id), False, by="test", now=system_clock())
        with pytest.raises(TimeoutError):
            await _lock_soon(store, match)
    assert listed(await own_rows(store)) == keyed(_1=SUSPENDED)


async def _lock_soon(store: Store, match: Match) -> None:
    async with asyncio.timeout(0.3), store.transaction() as tx:
        await matches.lock(tx, match.id)


async def test_pruned_rows_leave_no_trace_on_the_stream(store: Store, story: Story, tenant: Tenant) -> None:
    match = await story.match(offer(1))
    await book(store, match, False)
    own = await own_rows(store)
    await story.offer(match, offer(1))
    async with store.transaction() as tx:
        while await changes.prune(tx, 2**62):
            pass
        seqs = {row["seq"] for row in await tx.fetch("SELECT seq FROM past_seq")}
    assert seqs and not seqs & {row.seq for row in own}
