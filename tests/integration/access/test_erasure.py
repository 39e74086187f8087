"""A person is erased: no row has their address any more, and what they did stays under a pseudonym."""

import asyncio
import json
from typing import Any

import pytest
from piccolo.table import Table

from app.access import credentials, sign_in, users
from app.access.erasure import erase_person
from app.access.sign_in import SignInRefused
from app.domain.tenant import OperatorRole, Role
from app.kit.errors import Conflict, NotFound
from app.store import audit, erasure
from app.store.connections import Store
from app.store.counters import Counters
from app.store.piccolo_app import APP_CONFIG
from app.store.tables.dialect import Json
from tests.integration.access.conftest import SECRET
from tests.integration.access.people import BY, NOW, enter, invited, link, person, signed_in, valid

ANN = "ann.o+neil@example.com"


async def everything(store: Store) -> str:
    """All that the database has, as text."""
    async with store.autocommit() as tx:
        pages = [
            await tx.value(f"SELECT coalesce(string_agg(t::text, ' '), '') FROM {table._meta.tablename} t")
            for table in APP_CONFIG.table_classes
        ]
    return " ".join(pages).lower()


def row_of(table: type[Table], words: str) -> Table:
    """A row whose places for a person's address all have these words."""
    values: dict[str, Any] = {}
    for column in erasure.PLACES[table]:
        name = column._meta.name
        values[name] = (
            json.dumps({"by": words, "text": f"so\n{words}"}).encode() if isinstance(column, Json) else words
        )
    return table(**values)


async def test_no_row_has_their_address_any_more(store: Store, counters: Counters) -> None:
    await person(store, "boss@example.com")
    ann = await person(store, ANN, Role.DEVELOPER)
    await link(store, ann)
    session = await enter(store, counters, ANN, address="2001:db8::aa")
    async with store.transaction() as tx:
        for table in erasure.PLACES:
            own = {"tenant_id": ann.tenant_id} if hasattr(table, "tenant_id") else {}
            row = row_of(table, f"operator {ANN.upper()}")
            for name, value in own.items():
                setattr(row, name, value)
            await tx.change(table.insert(row))
    assert ANN in await everything(store) and "2001:db8::aa" in await everything(store)
    erased = await erase_person(store, f" {ANN} ", **BY)
    assert not await valid(store, session.token)
    left = await everything(store)
    assert ANN not in left and "2001:db8::aa" not in left and str(ann.id) not in left
    assert (erased.users, left.count(f"user {erased.pseudonym}") > 0) == (1, True)
    for table in erasure.PLACES:
        async with store.autocommit() as tx:
            found = await tx.value(f"SELECT string_agg(t::text, ' ') FROM {table._meta.tablename} t")
        assert f"operator {erased.pseudonym}" in found, table
    with pytest.raises(NotFound, match="Nothing is stored of"):
        await erase_person(store, ANN, **BY)


async def test_what_they_did_stays_in_the_audit(store: Store, counters: Counters) -> None:
    await person(store, "boss@example.com")
    ann = await person(store, ANN, Role.DEVELOPER)
    await enter(store, counters, ANN)
    async with store.autocommit() as tx:
        before = await audit.listing(tx, ann.tenant_id, limit=100)
    erased = await erase_person(store, ANN, **BY)
    async with store.autocommit() as tx:
        newest, *after = await audit.listing(tx, ann.tenant_id, limit=100)
    assert (newest.action, newest.actor, newest.subject) == ("user.forget", "tester", erased.pseudonym)
    assert [(each.at, each.action) for each in after] == [(each.at, each.action) for each in before]
    theirs = {each.actor for each in after if each.subject == erased.pseudonym} - {"tester"}
    assert theirs == {f"user {erased.pseudonym}"}


async def test_other_people_stay_as_they_are(store: Store) -> None:
    """Also those whose address has theirs within it."""
    others = ["x.ann.o+neil@example.com", "ann.o+neil@example.com.au", "annxo+neil@example.com"]
    await person(store, "boss@example.com")
    for email in others:
        await person(store, email, Role.READER)
    await invited(store, ANN, Role.READER)
    before = {email: (await everything(store)).count(f"user {email}") for email in others}
    await erase_person(store, ANN, **BY)
    left = await everything(store)
    assert {email: left.count(f"user {email}") for email in others} == before


async def test_the_last_owner_is_ended_first(store: Store, counters: Counters) -> None:
    ann = await person(store, ANN)
    session = await enter(store, counters, ANN)
    with pytest.raises(Conflict, match="last owner of tenant 'acme'"):
        await erase_person(store, ANN, **BY)
    assert await valid(store, session.token)
    async with store.transaction() as tx:
        await users.end_user(tx, ann.tenant_id, ann.id, operator=True, **BY)
    assert (await erase_person(store, ANN, **BY)).users == 1


async def test_the_last_admin_of_the_operators_stays(store: Store) -> None:
    async with store.transaction() as tx:
        await users.create_operator(tx, ANN, "Ann", OperatorRole.ADMIN, **BY)
        await users.create_operator(tx, "bob@example.com", "Bob", OperatorRole.TRADER, **BY)
    with pytest.raises(Conflict, match="last operator with the role admin"):
        await erase_person(store, ANN, **BY)
    async with store.transaction() as tx:
        await users.set_operator_role(tx, "bob@example.com", OperatorRole.ADMIN, **BY)
    # At once they cannot leave the operators without one.
    both = (erase_person(store, ANN, **BY), erase_person(store, "bob@example.com", **BY))
    outcomes = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(type(each).__name__ for each in outcomes) == ["Conflict", "Erased"]


async def test_every_user_with_the_address_is_erased(store: Store) -> None:
    for slug in ("acme", "other"):
        await person(store, f"boss@{slug}.example.com", slug=slug)
    first = await invited(store, ANN, Role.READER)
    async with store.transaction() as tx:
        await users.end_user(tx, first.tenant_id, first.id, **BY)
    await invited(store, ANN, Role.READER, slug="other")
    assert (await erase_person(store, ANN, **BY)).users == 2


async def test_an_erasure_that_was_interrupted_is_continued(
    store: Store, counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    await person(store, "boss@example.com")
    await person(store, ANN, Role.READER)
    await enter(store, counters, ANN, address="2001:db8::aa")
    with monkeypatch.context() as cut:
        cut.setattr(erasure, "replace_address", _fail)
        with pytest.raises(OSError):
            await erase_person(store, ANN, **BY)
    erased = await erase_person(store, ANN, **BY)
    left = await everything(store)
    assert (erased.users, ANN in left, "2001:db8::aa" in left) == (0, False, False)


async def _fail(*_: object) -> int:
    raise OSError


async def test_who_signs_in_meanwhile_is_refused(
    store: Store, counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    await person(store, "boss@example.com")
    await person(store, ANN, Role.READER)
    verify = credentials.verify_password

    async def erase_and_verify(hashed: str | None, password: str) -> bool:
        await erase_person(store, ANN, **BY)
        return await verify(hashed, password)

    monkeypatch.setattr(credentials, "verify_password", erase_and_verify)
    with pytest.raises(SignInRefused):
        await enter(store, counters, ANN)


async def test_what_is_under_way_when_they_are_erased_is_refused(store: Store, counters: Counters) -> None:
    """By a request that another process has let in just before."""
    await person(store, "boss@example.com")
    await person(store, ANN, Role.READER)
    browser = await signed_in(store, (await enter(store, counters, ANN)).token)
    raw = await link(store, browser.user)
    await erase_person(store, ANN, **BY)
    with pytest.raises(NotFound):
        await users.redeem_link(store, raw, "another fine password", secret=SECRET, now=NOW)
    with pytest.raises(NotFound):
        await sign_in.change_password(store, browser, "any", "another fine password", now=NOW)
