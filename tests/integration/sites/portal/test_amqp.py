"""AMQP credentials in the portal: made once, shown once, and a real login with what is pasted."""

import html
import re

import httpx
import pytest

from app.access.admin import set_tenant_active
from app.broker.management import Management
from app.domain.tenant import Role
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn
from tests.support.portal import Person, found_in
from tests.support.stored import records
from tests.support.web import IssueKey

PATH = "/portal/amqp"


async def seen(person: Person) -> dict[str, str]:
    """The fields of the form for a new password, as the page shows it now."""
    return {"seen": found_in((await person.get(PATH)).text, r'name="seen" value="(\d+)"')}


def url_in(page: httpx.Response) -> str:
    return found_in(page.text, r'<code class="secret" id="url">([^<]+)</code>')


def steps(page: httpx.Response) -> list[str]:
    """The answers of a check, one for each step; `accepted` for those that worked."""
    result = page.text.partition('id="result"')[2].partition("</section>")[0]
    found = re.findall(r"<td>(.*?)</td><td class=\"number\">\d+</td>", result)
    return [re.sub(r"</?code>", "", html.unescape(each)) for each in found]


async def provision(person: Person) -> str:
    return url_in(await person.post(PATH, **await seen(person)))


async def test_credentials_are_made_tested_and_made_anew(
    sign_in: SignIn, slug: str, issue: IssueKey, store: Store
) -> None:
    person = await sign_in(Role.DEVELOPER, slug)
    await issue(slug, bundles=("cs2.odds.basic",))
    form = await seen(person)
    first = url_in(await person.post(PATH, **form))
    again = await person.post(PATH, **form)
    assert again.status_code == 409 and first not in again.text, "the browser sent the same form again"
    password = first.split(":")[2].partition("@")[0]
    for pasted in (password, first):
        assert steps(await person.post(f"{PATH}/check", password=pasted)) == ["accepted"] * 5
    second = await provision(person)
    assert steps(await person.post(f"{PATH}/check", password=second)) == ["accepted"] * 5
    connected, refusal = steps(await person.post(f"{PATH}/check", password=first))
    assert connected == "accepted" and re.search("(ACCESS_REFUSED|NOT_ALLOWED) - .*refused", refusal)
    page = await person.get(PATH)
    assert password not in page.text and person.email in page.text
    made = [each for each in await records(store, slug) if each.action == "tenant.provision_amqp"]
    assert [record.actor for record in made] == [f"user {person.email}"] * 2


async def test_the_test_goes_to_our_broker_whatever_is_pasted(
    sign_in: SignIn, slug: str, issue: IssueKey
) -> None:
    person = await sign_in(Role.OWNER, slug)
    await issue(slug, bundles=("cs2.odds.basic",))
    password = (await provision(person)).split(":")[2].partition("@")[0]
    page = await person.post(f"{PATH}/check", password=f"amqp://guest:{password}@127.0.0.1:1/other")
    assert steps(page) == ["accepted"] * 5
    assert page.text.count("The URL names another") == 3
    for pasted in ("", "amqp://host/vhost", "amqp://[", "http://a:b@[::1"):
        assert (await person.post(f"{PATH}/check", password=pasted)).status_code == 422, pasted


async def test_tests_are_limited(sign_in: SignIn, slug: str, issue: IssueKey) -> None:
    person = await sign_in(Role.OWNER, slug)
    await issue(slug, bundles=("cs2.odds.basic",))
    await provision(person)
    statuses = [(await person.post(f"{PATH}/check", password="wrong")).status_code for _ in range(7)]
    assert statuses == [200] * 6 + [429]


async def test_no_feed_no_vhost(sign_in: SignIn, slug: str, issue: IssueKey, management: Management) -> None:
    person = await sign_in(Role.OWNER, slug)
    await issue(slug, bundles=("cs2.stats",))
    assert 'name="seen"' not in (await person.get(PATH)).text
    assert (await person.post(PATH, seen="0")).status_code == 403
    assert (await person.post(f"{PATH}/check", password="x")).status_code == 422
    assert slug not in await management.vhosts()


@pytest.mark.parametrize("role", [Role.TRADER, Role.READER])
async def test_others_only_read(sign_in: SignIn, slug: str, issue: IssueKey, role: Role) -> None:
    person = await sign_in(role, slug)
    await issue(slug, bundles=("cs2.odds.basic",))
    page = await person.get(PATH)
    assert page.status_code == 200 and f'action="{PATH}' not in page.text
    assert (await person.post(PATH, seen="0")).status_code == 403
    assert (await person.post(f"{PATH}/check", password="x")).status_code == 403


async def test_a_tenant_that_was_revoked_gets_no_credentials(
    sign_in: SignIn, slug: str, issue: IssueKey, store: Store
) -> None:
    person = await sign_in(Role.OWNER, slug)
    await issue(slug, bundles=("cs2.odds.basic",))
    form = await seen(person)
    async with store.transaction() as tx:
        await set_tenant_active(tx, slug, False, by="tester", now=1)
    assert (await person.post(PATH, **form)).status_code == 303
