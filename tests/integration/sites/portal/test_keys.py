"""API keys in the portal: made within what an operator granted, shown once, rotated, revoked, renamed."""

import re
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from app.access import admin
from app.domain.tenant import Role
from app.store import keys, tenants
from app.store.connections import Store
from app.store.keys import Key
from tests.integration.sites.portal.conftest import SignIn
from tests.support.portal import SCRIPT, Person, found_in
from tests.support.stored import records
from tests.support.web import IssueKey

PATH = "/portal/keys"
NEW = {"label": "site", "bundle": "cs2.stats", "sport": "cs2", "rate": "60", "networks": ""}


async def own(store: Store, slug: str = "acme") -> list[Key]:
    async with store.autocommit() as tx:
        return await keys.listing(tx, (await tenants.by_slug(tx, slug)).id)


async def fresh(person: Person) -> dict[str, str]:
    """The fields of the form for a new key, as the page shows it now."""
    page = await person.get(PATH)
    return {**NEW, "request_id": found_in(page.text, r'name="request_id" value="([^"]+)"')}


def secret_in(page: httpx.Response) -> str:
    return found_in(page.text, r'<code class="secret" id="key">(mfk_\w+)</code>')


async def whoami(client: httpx.AsyncClient, raw: str) -> httpx.Response:
    return await client.get("/v1/whoami", headers={"X-API-Key": raw})


async def test_a_key_is_made_once_and_shown_once(
    sign_in: SignIn, store: Store, client: httpx.AsyncClient, issue: IssueKey
) -> None:
    person = await sign_in(Role.DEVELOPER)
    await issue(bundles=("cs2.stats",))
    fields = await fresh(person)
    made = await person.post(PATH, **(fields | {"label": SCRIPT, "networks": "127.0.0.1, 10.0.0.0/8"}))
    raw = secret_in(made)
    assert (await whoami(client, raw)).status_code == 200
    again = await person.post(PATH, **(fields | {"label": SCRIPT}))
    assert again.status_code == 409 and raw not in again.text and raw[:8] in again.text
    new = (await own(store))[1:]
    assert [(key.label, key.networks, key.rate_limit_rpm) for key in new] == [
        (SCRIPT, ("10.0.0.0/8", "127.0.0.1"), 60)
    ]
    page = await person.get(PATH)
    assert raw not in page.text and raw[:8] in page.text
    assert SCRIPT not in page.text and "&lt;script&gt;" in page.text
    (record,) = await records(store, new[0].id)
    assert (record.actor, record.action) == (f"user {person.email}", "key.issue")


async def test_no_key_is_made_beyond_what_the_tenant_has(
    person: Person, store: Store, issue: IssueKey
) -> None:
    await issue(bundles=("cs2.stats",))
    await issue(bundles=("cs2.operator",), sports=("cs2", "soccer"))
    for wanted in [
        {"bundle": "cs2.odds.basic"},
        {"scope": "cs2:matches:internals"},
        {"bundle": "cs2.operator"},
        {"sport": "soccer"},
        {"rate": "601"},
        {"networks": "10.0.0.1/8"},
        {"label": ""},
        {"bundle": "nonsense"},
        {"request_id": "x"},
        {"rate": "0"},
    ]:
        refused = await person.post(PATH, **(await fresh(person) | wanted))
        assert refused.status_code == 422 and 'role="alert"' in refused.text, wanted
        assert len(await own(store)) == 2, wanted


async def test_what_an_operator_revoked_is_withdrawn(person: Person, store: Store, issue: IssueKey) -> None:
    """But not what the tenant's people revoked themselves, nor what they rotated."""
    await issue(bundles=("cs2.stats",))
    (first,) = await own(store)
    secret_in(await person.post(f"{PATH}/{first.id}/rotate"))
    second = (await own(store))[1]
    assert (await person.post(f"{PATH}/{second.id}/revoke")).status_code == 303
    secret_in(await person.post(PATH, **await fresh(person)))
    third = (await own(store))[2]
    async with store.transaction() as tx:
        await admin.reactivate_key(tx, second.id, by="tester", now=2)
        for key_id in (second.id, third.id):
            await admin.revoke_key(tx, key_id, by="tester", now=3)
    page = await person.get(PATH)
    assert 'name="request_id"' not in page.text
    refused = await person.post(PATH, **NEW, request_id=str(uuid4()))
    assert refused.status_code == 422 and len(await own(store)) == 3


async def test_rotating_ends_the_old_key_at_once(
    sign_in: SignIn, store: Store, client: httpx.AsyncClient, issue: IssueKey
) -> None:
    person = await sign_in(Role.DEVELOPER)
    raw = await issue(bundles=("cs2.stats",), networks=("10.0.0.0/8",))
    (old,) = await own(store)
    rotated = await person.post(f"{PATH}/{old.id}/rotate")
    new = secret_in(rotated)
    assert (await whoami(client, raw)).status_code == 403
    assert (await whoami(client, new)).status_code == 200
    again = await person.post(f"{PATH}/{old.id}/rotate")
    both = await own(store)
    assert again.status_code == 409 and len(both) == 2
    assert {key.scopes for key in both} == {old.scopes}
    ended = await person.get(f"{PATH}?list=ended")
    assert old.hint in ended.text and new[:8] in ended.text
    (record, _) = await records(store, old.id)
    assert (record.actor, record.action) == (f"user {person.email}", "key.rotate")


async def test_revoking_ends_a_key_and_is_confirmed_first(
    person: Person, store: Store, client: httpx.AsyncClient, issue: IssueKey
) -> None:
    raw = await issue(bundles=("cs2.stats",))
    (key,) = await own(store)
    page = await person.get(PATH)
    hidden = re.findall(r"<details>.*?</details>", page.text, re.DOTALL)
    assert any(f"{PATH}/{key.id}/revoke" in each for each in hidden)
    assert (await person.post(f"{PATH}/{key.id}/revoke")).status_code == 303
    assert (await whoami(client, raw)).status_code == 403
    (record, _) = await records(store, key.id)
    assert (record.actor, record.action) == (f"user {person.email}", "key.revoke")


async def test_a_key_gets_another_name_and_networks(
    person: Person, store: Store, client: httpx.AsyncClient, issue: IssueKey
) -> None:
    raw = await issue(bundles=("cs2.stats",))
    (key,) = await own(store)
    changed = await person.post(f"{PATH}/{key.id}", label="second", networks="192.0.2.0/24")
    assert changed.status_code == 303
    assert (await whoami(client, raw)).status_code == 403, "not from this network"
    assert (await person.post(f"{PATH}/{key.id}", label="second", networks="")).status_code == 303
    assert (await whoami(client, raw)).status_code == 200
    refused = await person.post(f"{PATH}/{key.id}", label="third", networks="everywhere")
    assert refused.status_code == 422
    assert [record.action for record in await records(store, key.id)] == ["key.alter"] * 2 + ["key.issue"]


@pytest.mark.parametrize("role", [Role.TRADER, Role.READER])
async def test_others_only_read(sign_in: SignIn, store: Store, issue: IssueKey, role: Role) -> None:
    person = await sign_in(role)
    await issue(bundles=("cs2.stats",))
    (key,) = await own(store)
    page = await person.get(PATH)
    assert key.hint in page.text and 'action="/portal/keys' not in page.text
    for path in (PATH, f"{PATH}/{key.id}", f"{PATH}/{key.id}/rotate", f"{PATH}/{key.id}/revoke"):
        assert (await person.post(path, **NEW, request_id=str(uuid4()))).status_code == 403, path
    assert await own(store) == [key]


async def test_keys_of_other_tenants_do_not_exist_and_operators_keys_stay(
    person: Person, store: Store, issue: IssueKey
) -> None:
    await issue(bundles=("cs2.operator",), label="internal")
    await issue("beta", bundles=("cs2.stats",), label="of beta")
    (operators,), (foreign,) = await own(store), await own(store, "beta")
    page = await person.get(PATH)
    assert "of beta" not in page.text and str(operators.id) not in page.text
    answers: dict[Any, set[tuple[int, str]]] = {}
    for key_id in (operators.id, foreign.id, uuid4()):
        for end in ("", "/rotate", "/revoke"):
            refused = await person.post(f"{PATH}/{key_id}{end}", label="mine", networks="")
            answers.setdefault(key_id, set()).add((refused.status_code, alert(refused, key_id)))
    kinds = [*answers.values()]
    assert kinds[1] == kinds[2] == {(404, "There is no key .")}
    assert {status for status, _ in kinds[0]} == {403}
    assert await own(store) == [operators] and await own(store, "beta") == [foreign]


async def test_many_keys_are_paged(person: Person, issue: IssueKey) -> None:
    for number in range(60):
        await issue(bundles=("cs2.stats",), label=f"number {number}")
    page = await person.get(PATH)
    rest = await person.get(found_in(page.text, r'href="(/portal/keys\?list=active&amp;before=[^"]+)"'))
    seen = [re.findall(r"number \d+", each.text.replace('value="number', "")) for each in (page, rest)]
    assert [len(set(each)) for each in seen] == [50, 10]
    assert len(set(seen[0] + seen[1])) == 60
    assert (await person.post(PATH, **await fresh(person))).status_code == 409, "too many active keys"
    for query in ("list=none", "before=x", "before=1-2", "other=1"):
        assert (await person.get(f"{PATH}?{query}")).status_code == 422, query


def alert(page: httpx.Response, key_id: UUID) -> str:
    return found_in(page.text, r'role="alert"><p>(.*?)</p>').replace(str(key_id), "")
