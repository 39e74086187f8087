"""The documentation page: examples with the pasted key, which is checked and forgotten."""

import html
import re
import shlex

import httpx

from app.access import admin, api_keys
from app.domain.tenant import Role
from app.settings import Settings
from app.store import keys, tenants
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn
from tests.support.portal import Person
from tests.support.web import IssueKey

PATH = "/portal/docs"


def examples(page: httpx.Response) -> list[str]:
    found = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page.text, re.DOTALL)
    return [html.unescape(each) for each in found]


async def test_every_example_works_as_it_is_copied(
    sign_in: SignIn, client: httpx.AsyncClient, issue: IssueKey, settings: Settings
) -> None:
    person = await sign_in(Role.READER)
    raw = await issue(bundles=("cs2.odds.basic",))
    page = await person.post(PATH, key=f" {raw} ")
    assert page.status_code == 200 and "no-store" in page.headers["cache-control"]
    assert f"Key {raw[:8]}… is active" in page.text
    statuses = []
    for example in examples(page):
        if example.startswith("curl"):
            words = shlex.split(example)
            assert words[1] == "-H" and words[-1].startswith(settings.public_url)
            name, _, value = words[2].partition(": ")
            method = words[words.index("-X") + 1] if "-X" in words else "GET"
            path = words[-1].removeprefix(settings.public_url)
            statuses.append((await client.request(method, path, headers={name: value})).status_code)
        else:
            compile(example, "example", "exec")
    assert statuses == [200] * 4 + [409], "the tenant has no vhost for a recovery"
    plain = examples(await person.get(PATH))
    assert [each.replace("YOUR_KEY", raw) for each in plain] == examples(page)


async def test_only_a_key_of_the_tenant_is_put_in(person: Person, store: Store, issue: IssueKey) -> None:
    """One of another tenant gets the same answer as one that does not exist."""
    foreign = await issue("beta", bundles=("cs2.stats",))
    pages = set()
    for raw in (foreign, api_keys.new_key(), "'; rm -rf /", foreign[:-1], "ключ"):
        refused = await person.post(PATH, key=raw)
        assert refused.status_code == 422 and html.escape(raw) not in refused.text, raw
        pages.add(refused.text)
    assert len(pages) == 1
    raw = await issue(bundles=("cs2.stats",), networks=("10.0.0.0/8",))
    async with store.transaction() as tx:
        (key,) = await keys.listing(tx, (await tenants.by_slug(tx, "acme")).id)
        await admin.revoke_key(tx, key.id, by="tester", now=1)
    page = await person.post(PATH, key=raw)
    assert "has been revoked" in page.text and "10.0.0.0/8" in page.text
    assert page.text.count("This key does not have it") == 4
