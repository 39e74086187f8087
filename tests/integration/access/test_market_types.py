"""Market types that are switched for a tenant: what is stored, and what a switch waits for."""

import asyncio

import pytest

from app.access import admin
from app.domain.tenant import Tenant
from app.domain.tenant_offer import NO_CHANGES, TenantOffer
from app.kit.clock import system_clock
from app.kit.errors import Invalid
from app.store import changes, matches, tenants
from app.store.connections import Store
from tests.support.databases import waiting
from tests.support.eventually import eventually
from tests.support.story import Story, offer
from tests.support.tenants import ROUND_WINNER, switch

MATCH_WINNER = 1


@pytest.fixture
async def tenant(store: Store) -> Tenant:
    async with store.transaction() as tx:
        return await admin.create_tenant(tx, "acme", "Acme", by="test", now=1)


async def test_intervals_follow_each_other(store: Store, tenant: Tenant) -> None:
    for on in (True, False, False, True, False):
        await switch(store, on, ROUND_WINNER, MATCH_WINNER)
    async with store.autocommit() as tx:
        intervals = (await tenants.by_slug(tx, "acme")).types_off
        assert await tenants.offers(tx) == {tenant.id: TenantOffer(intervals)}
        assert await tenants.offer_of(tx, tenant.id) == TenantOffer(intervals)
    for kind in (ROUND_WINNER, MATCH_WINNER):
        first, second = (one for one in intervals if one.type_id == kind)
        assert first.on_seq is not None and first.on_at is not None and second.on_seq is None
        assert first.off_seq < first.on_seq < second.off_seq and first.off_at <= first.on_at <= second.off_at


async def test_an_unknown_type_switches_none(store: Store, tenant: Tenant) -> None:
    with pytest.raises(Invalid, match="9999"):
        await switch(store, False, ROUND_WINNER, 9999)
    async with store.autocommit() as tx:
        assert (await tenants.by_slug(tx, "acme")).types_off == ()


async def test_what_a_clock_ahead_of_ours_opened_was_offered(store: Store, tenant: Tenant) -> None:
    ahead = Story(store, lambda: system_clock() + 60_000)
    await ahead.match(offer(1))
    await switch(store, False)
    async with store.autocommit() as tx:
        (interval,) = (await tenants.by_slug(tx, "acme")).types_off
    assert interval.off_at > system_clock() + 30_000


async def test_a_switch_is_newer_than_what_was_published(store: Store, story: Story, tenant: Tenant) -> None:
    """Its rows have their place after it, and a timestamp of their own; the match goes on after that."""
    match = await story.match(offer(1), offer(2))
    before = story.at
    await switch(store, False)
    async with store.autocommit() as tx:
        rows = [row for row in await changes.read(tx, 0, 100) if changes.tenant_of(row)]
        (interval,) = (await tenants.by_slug(tx, "acme")).types_off
        published = (await matches.by_ref(tx, str(match.id))).last_seq
    assert [row.entity for row in rows] == ["market_type", "tenant_market", "tenant_market"]
    place, *own = rows
    assert place.seq == interval.off_seq and [row.envelope_seq for row in own] == [own[-1].seq] * 2
    assert {row.prev_seq for row in own} == {published} and min(row.at for row in own) > before
    await story.offer(match, offer(1))
    assert story.at > own[0].at


async def test_a_switch_waits_for_a_step_of_a_recovery(store: Store, tenant: Tenant) -> None:
    async with store.transaction() as step:
        assert await tenants.lock_offer(step, tenant.id) == NO_CHANGES
        switching = asyncio.create_task(switch(store, False))
        await eventually(lambda: waiting(store))
        assert not switching.done()
    await switching
    async with store.transaction() as step:
        assert len((await tenants.lock_offer(step, tenant.id)).types_off) == 1
