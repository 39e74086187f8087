from uuid import uuid4

import pytest

from app.access import admin, feed_selection
from app.access.api_keys import KeyAlteration, KeyProperties
from app.access.grants import Grants
from app.kit.errors import Conflict, Forbidden, Invalid, NotFound
from app.store import audit, keys, tenants
from app.store.connections import Store
from tests.integration.access.conftest import BY, SECRET, Issue
from tests.support.story import Story


async def actions(store: Store) -> list[str]:
    """What was done about tenant `acme`, in order."""
    async with store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, "acme")
        return [record.action for record in reversed(await audit.listing(tx, tenant.id, limit=100))]


async def test_a_tenant_is_created_once(store: Store) -> None:
    async with store.transaction() as tx:
        first = await admin.create_tenant(tx, "acme", "Acme", **BY)
        assert await admin.create_tenant(tx, "acme", "Acme", **BY) == first
        assert await tenants.by_slug(tx, "acme") == first
    with pytest.raises(Conflict):
        async with store.transaction() as tx:
            await admin.create_tenant(tx, "acme", "Another", **BY)
    assert await actions(store) == ["tenant.create"]


async def test_a_vhost_is_named_once_and_for_ever(store: Store) -> None:
    async with store.transaction() as tx:
        named = await admin.create_tenant(tx, "acme", "Acme", vhost="bookmaker_id", **BY)
        assert await admin.create_tenant(tx, "acme", "Acme", vhost="bookmaker_id", **BY) == named
        await admin.set_max_queues(tx, "acme", 12, **BY)
        assert (await tenants.by_slug(tx, "acme")).vhost == named.vhost
        with pytest.raises(Conflict):
            await admin.create_tenant(tx, "acme", "Acme", **BY)
    assert named.vhost == f"/oddinfeed/{named.bookmaker_id}"


@pytest.mark.parametrize(
    "slug", ["", "a", "Acme", "1acme", "acme-", "ac me", "a/b", "matchfeed", "a" * 32, "é" * 3]
)
async def test_a_slug_can_name_a_vhost(store: Store, slug: str) -> None:
    async with store.transaction() as tx:
        with pytest.raises(Invalid):
            await admin.create_tenant(tx, slug, "Name", **BY)


async def test_the_vhost_of_our_own_queues_is_no_tenants(store: Store) -> None:
    async with store.transaction() as tx:
        with pytest.raises(Invalid):
            await admin.create_tenant(tx, "our-queues", "Name", internal_vhost="our-queues", **BY)


async def test_rotation_changes_nothing_but_the_key(store: Store, issue: Issue) -> None:
    old = await issue(
        bundles=("cs2.scoretock",), label="portal", networks=("192.0.2.1",), rate_limit_rpm=5, sports=("cs2",)
    )
    async with store.transaction() as tx:
        new = await admin.rotate_key(tx, old.key.id, secret=SECRET, by="tester", now=2000)
        first, second = await keys.listing(tx, old.key.tenant_id)
    assert new.raw != old.raw
    assert (first.active, first.revoked_at, first.replaced_by) == (False, 2000, new.key.id)
    assert second == new.key
    assert second.finished_only
    for name in ("scopes", "sports", "networks", "rate_limit_rpm", "label", "operator", "tenant_id"):
        assert getattr(second, name) == getattr(old.key, name)
    grants = Grants(store, SECRET)
    assert (await grants.grant_of(new.raw, "192.0.2.1")).finished_only
    with pytest.raises(Forbidden):
        await grants.grant_of(old.raw, "192.0.2.1")


async def test_revoking_and_reactivating(store: Store, issue: Issue) -> None:
    issued = await issue()
    async with store.transaction() as tx:
        assert await admin.reactivate_key(tx, issued.key.id, **BY) == issued.key
        ended = await admin.revoke_key(tx, issued.key.id, **BY)
        assert await admin.revoke_key(tx, issued.key.id, **BY) == ended
        with pytest.raises(Conflict):
            await admin.rotate_key(tx, issued.key.id, secret=SECRET, **BY)
        assert await admin.reactivate_key(tx, issued.key.id, **BY) == issued.key
    assert await actions(store) == ["tenant.create", "key.issue", "key.revoke", "key.reactivate"]


async def test_a_rotated_key_stays_revoked(store: Store, issue: Issue) -> None:
    issued = await issue()
    async with store.transaction() as tx:
        await admin.rotate_key(tx, issued.key.id, secret=SECRET, **BY)
        with pytest.raises(Conflict, match="rotated"):
            await admin.reactivate_key(tx, issued.key.id, **BY)


async def test_altering_records_what_changed(store: Store, issue: Issue) -> None:
    issued = await issue()
    async with store.transaction() as tx:
        changed = await admin.alter_key(
            tx, issued.key.id, KeyAlteration(sports=("soccer",), rate_limit_rpm=10, label="new"), **BY
        )
        assert await admin.alter_key(tx, issued.key.id, KeyAlteration(rate_limit_rpm=10), **BY) == changed
        with pytest.raises(Invalid):
            await admin.alter_key(tx, issued.key.id, KeyAlteration(sports=("chess",)), **BY)
        (record, *_) = await audit.listing(tx, issued.key.tenant_id, limit=1)
    assert (changed.sports, changed.rate_limit_rpm, changed.label) == (frozenset({"soccer"}), 10, "new")
    assert record.details == {"sports": ["soccer"], "rate_limit_rpm": 10, "label": "new"}
    assert (record.actor, record.at, record.subject) == ("tester", 1000, str(issued.key.id))


async def test_booking_per_tenant(store: Store, story: Story) -> None:
    match = await story.match()
    async with store.transaction() as tx:
        acme = await admin.create_tenant(tx, "acme", "Acme", **BY)
        beta = await admin.create_tenant(tx, "beta", "Beta", **BY)
        ref = f"od:match:{match.number}"
        assert not await feed_selection.set_booked(tx, "acme", ref, True, **BY)
        assert await feed_selection.set_booked(tx, "acme", ref, False, **BY)
        assert not await feed_selection.set_booked(tx, "acme", str(match.id), False, **BY)
        assert (await tenants.unbooked(tx)).keys() == {(acme.id, match.id)}
        assert await tenants.booked(tx, acme.id, [match.id]) == set()
        assert await tenants.booked(tx, beta.id, [match.id]) == {match.id}
        assert await feed_selection.set_booked(tx, "acme", ref, True, **BY)
        assert not await tenants.unbooked(tx)
    assert await actions(store) == ["tenant.create", "match.unbook", "match.book"]


async def test_unknown_tenants_keys_and_matches_are_not_found(store: Store) -> None:
    async with store.transaction() as tx:
        await admin.create_tenant(tx, "acme", "Acme", **BY)
        for work in (
            admin.issue_key(tx, "nobody", KeyProperties(bundles=("cs2.stats",)), secret=SECRET, **BY),
            admin.revoke_key(tx, uuid4(), **BY),
            admin.rotate_key(tx, uuid4(), secret=SECRET, **BY),
            admin.set_tenant_active(tx, "nobody", True, **BY),
            feed_selection.set_booked(tx, "nobody", "od:match:1", True, **BY),
            feed_selection.set_booked(tx, "acme", "od:match:1", True, **BY),
        ):
            with pytest.raises(NotFound):
                await work


async def test_a_refused_change_leaves_no_trace(store: Store, issue: Issue) -> None:
    issued = await issue()
    with pytest.raises(ZeroDivisionError):
        async with store.transaction() as tx:
            await admin.revoke_key(tx, issued.key.id, **BY)
            raise ZeroDivisionError
    assert await actions(store) == ["tenant.create", "key.issue"]
    assert (await Grants(store, SECRET).grant_of(issued.raw)).key_id == issued.key.id
