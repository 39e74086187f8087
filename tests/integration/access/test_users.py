"""Users, their roles and their one-time links."""

import asyncio
from uuid import uuid4

import pytest

from app.access import admin, users
from app.access.users import LINK_MILLIS
from app.domain.tenant import LinkPurpose, Role
from app.kit.errors import Conflict, Invalid, NotFound
from app.store import audit
from app.store import users as stored
from app.store.connections import Store
from tests.integration.access.conftest import SECRET
from tests.integration.access.people import BY, NOW, PASSWORD, invited, link, person


async def redeem(store: Store, raw: str, password: str = PASSWORD, now: int = NOW) -> None:
    await users.redeem_link(store, raw, password, secret=SECRET, now=now)


async def usable(store: Store, raw: str, now: int = NOW) -> bool:
    async with store.autocommit() as tx:
        return await users.link_user(tx, raw, secret=SECRET, now=now) is not None


async def test_a_user_is_created_without_a_password(store: Store) -> None:
    user = await invited(store, " Ann@Example.COM ", Role.DEVELOPER)
    assert (user.email, user.role) == ("ann@example.com", Role.DEVELOPER)
    assert user.active and not user.has_password
    async with store.autocommit() as tx:
        assert await stored.listing(tx, user.tenant_id) == [user]
        newest, *_ = await audit.listing(tx, user.tenant_id, limit=1)
    assert (newest.action, newest.subject) == ("user.create", str(user.id))
    assert newest.details["role"] == "developer"


@pytest.mark.parametrize(
    "email",
    ["", "ann", "ann@", "@example.com", "a b@example.com", "ann@example", "ann@example.com\n\nx"]
    + ["ann@-example.com", "ännchen@example.com", "a\x00@example.com", "a" * 250 + "@example.com"],
)
async def test_an_address_is_one(store: Store, email: str) -> None:
    with pytest.raises(Invalid) as refused:
        await invited(store, email)
    assert [field.loc for field in refused.value.fields] == [("email",)]


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "Ann\nBob", "Ann\u202e", "a\x00"])
async def test_a_name_is_printable(store: Store, name: str) -> None:
    await invited(store, "first@example.com")
    async with store.transaction() as tx:
        with pytest.raises(Invalid):
            await users.create_user(tx, "acme", "ann@example.com", name, Role.OWNER, **BY)


async def test_an_address_is_of_one_active_user(store: Store) -> None:
    await person(store, "boss@example.com")
    first = await invited(store, "ann@example.com", Role.READER)
    with pytest.raises(Conflict):
        await invited(store, "ANN@example.com", slug="other")
    async with store.transaction() as tx:
        await users.end_user(tx, first.tenant_id, first.id, **BY)
    second = await invited(store, "ann@example.com", slug="other")
    assert second.id != first.id


async def test_another_tenants_users_are_not_found(store: Store) -> None:
    """Their ids are of no use, and nothing changes."""
    mine, theirs = await person(store, "a@example.com"), await person(store, "b@example.com", slug="other")
    for user_id in (theirs.id, uuid4()):
        async with store.transaction() as tx:
            with pytest.raises(NotFound) as one:
                await users.set_role(tx, mine.tenant_id, user_id, Role.READER, **BY)
            with pytest.raises(NotFound) as two:
                await users.end_user(tx, mine.tenant_id, user_id, operator=True, **BY)
            with pytest.raises(NotFound) as three:
                await users.issue_link(tx, mine.tenant_id, user_id, secret=SECRET, **BY)
        assert {str(each.value) for each in (one, two, three)} == {"There is no such user."}
    async with store.autocommit() as tx:
        assert await stored.listing(tx, mine.tenant_id) == [mine]
        assert await stored.listing(tx, theirs.tenant_id) == [theirs]


async def test_a_tenant_keeps_an_owner(store: Store) -> None:
    owner = await person(store, "a@example.com")
    await person(store, "b@example.com", Role.TRADER)
    async with store.transaction() as tx:
        with pytest.raises(Conflict):
            await users.set_role(tx, owner.tenant_id, owner.id, Role.READER, **BY)
        with pytest.raises(Conflict):
            await users.end_user(tx, owner.tenant_id, owner.id, **BY)
        ended = await users.end_user(tx, owner.tenant_id, owner.id, operator=True, **BY)
        assert not ended.active
        assert await users.end_user(tx, owner.tenant_id, owner.id, **BY) == ended
        with pytest.raises(Conflict):
            await users.set_role(tx, owner.tenant_id, owner.id, Role.READER, **BY)


async def test_two_owners_cannot_demote_each_other_at_once(store: Store) -> None:
    one, other = await person(store, "a@example.com"), await person(store, "b@example.com")

    async def demote(user_id: object) -> None:
        async with store.transaction() as tx:
            await users.set_role(tx, one.tenant_id, user_id, Role.READER, **BY)  # type: ignore[arg-type]

    outcomes = await asyncio.gather(demote(one.id), demote(other.id), return_exceptions=True)
    assert sorted(type(each).__name__ for each in outcomes) == ["Conflict", "NoneType"]
    async with store.autocommit() as tx:
        roles = sorted(user.role for user in await stored.listing(tx, one.tenant_id))
    assert roles == [Role.OWNER, Role.READER]


async def test_a_link_sets_a_password_once(store: Store) -> None:
    user = await invited(store, "ann@example.com")
    raw = await link(store, user)
    assert await usable(store, raw)
    await redeem(store, raw)
    assert not await usable(store, raw)
    with pytest.raises(NotFound):
        await redeem(store, raw, "another fine password")


async def test_of_two_who_redeem_a_link_one_wins(store: Store) -> None:
    user = await invited(store, "ann@example.com")
    raw = await link(store, user)
    both = (redeem(store, raw, "the first password"), redeem(store, raw, "the other password"))
    outcomes = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(type(each).__name__ for each in outcomes) == ["NoneType", "NotFound"]
    async with store.autocommit() as tx:
        done = [record.action for record in await audit.listing(tx, user.tenant_id, limit=10)]
    assert done.count("user.password") == 1


async def test_links_that_may_not_be_used_are_all_alike(store: Store) -> None:
    """Unknown, malformed, expired, replaced, of an ended user, of an inactive tenant: one answer."""
    await person(store, "boss@example.com")
    user, ended = await invited(store, "a@example.com"), await invited(store, "b@example.com")
    other = await invited(store, "c@example.com", slug="gone")
    replaced, current, of_ended = await link(store, user), await link(store, user), await link(store, ended)
    of_inactive = await link(store, other)
    async with store.transaction() as tx:
        await users.end_user(tx, ended.tenant_id, ended.id, **BY)
        await admin.set_tenant_active(tx, "gone", False, **BY)
        with pytest.raises(Conflict):
            await users.issue_link(tx, ended.tenant_id, ended.id, secret=SECRET, **BY)
    assert await usable(store, current, NOW + LINK_MILLIS - 1)
    texts = set()
    for raw in ("A" * 43, "", "x", "\ud800", replaced, of_ended, of_inactive):
        assert not await usable(store, raw)
        with pytest.raises(NotFound) as refused:
            await redeem(store, raw)
        texts.add(str(refused.value))
    with pytest.raises(NotFound) as refused:
        await redeem(store, current, now=NOW + LINK_MILLIS)
    assert texts == {str(refused.value)}


async def test_a_password_that_does_not_fit_leaves_the_link(store: Store) -> None:
    user = await invited(store, "ann@example.com")
    raw = await link(store, user)
    for password in ("short", "Ann@example.com", "a" * 12):
        with pytest.raises(Invalid):
            await redeem(store, raw, password)
    await redeem(store, raw)


async def test_a_link_is_a_reset_once_there_is_a_password(store: Store) -> None:
    user = await invited(store, "ann@example.com")
    purposes = []
    for _ in range(2):
        async with store.transaction() as tx:
            issued = await users.issue_link(tx, user.tenant_id, user.id, secret=SECRET, **BY)
        purposes.append(issued.purpose)
        assert issued.raw not in repr(issued)
        await redeem(store, issued.raw)
    assert purposes == [LinkPurpose.INVITATION, LinkPurpose.RESET]


async def test_no_token_is_stored(store: Store) -> None:
    user = await invited(store, "ann@example.com")
    raw = await link(store, user)
    await redeem(store, raw)
    async with store.autocommit() as tx:
        tables = ("portal_user", "portal_link", "audit")
        rows = [str(dict(row)) for table in tables for row in await tx.fetch(f"SELECT * FROM {table}")]
    assert raw not in "\n".join(rows)
    assert PASSWORD not in "\n".join(rows)
