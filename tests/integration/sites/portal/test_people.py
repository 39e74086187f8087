"""People of a tenant in the portal: invitations, links, roles, ends, their own account."""

import re

import httpx
import pyotp

from app.domain.tenant import Role
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn
from tests.support.portal import PASSWORD, SCRIPT, Person, found_in

NEW = {"email": "new@acme.test", "name": SCRIPT, "role": "reader"}
#: A third of them have ended; seven were created in each millisecond.
_MORE_USERS = """
    INSERT INTO portal_user (id, tenant_id, email, name, role, active, created_at, totp_step, wrong_codes)
    SELECT md5(n::text)::uuid, tenant_id, 'person-' || n || '@acme.test', 'Person', 'reader', n % 3 > 0,
        2000000000000 + n / 7, -1, 0
    FROM portal_user, generate_series(0, 179) n
"""


def action(page: httpx.Response, end: str, near: str) -> str:
    """The address of the form that ends so in the row of a user."""
    row = next(each for each in page.text.split("<tr") if near in each)
    return found_in(row, rf'action="(/portal/people/[^"]+/{end})"')


async def test_an_invitation_works_once_and_is_shown_once(sign_in: SignIn, client: httpx.AsyncClient) -> None:
    owner = await sign_in()
    invited = await owner.post("/portal/people", **NEW)
    path = found_in(invited.text, r"https?://[^<\"\s]+(/portal/link/[^<\"\s]+)")
    assert (await client.get(path)).status_code == 200
    assert "passwords differ" in (await client.post(path, data={"password": PASSWORD, "again": "x"})).text
    fields = {"password": PASSWORD, "again": PASSWORD}
    assert (await client.post(path, data=fields)).status_code == 303
    for replayed in (await client.get(path), await client.post(path, data=fields)):
        assert replayed.status_code == 404
    assert (await Person(client, "new@acme.test").sign_in()).status_code == 303
    page = await owner.get("/portal/people")
    assert path not in page.text and SCRIPT not in page.text and "&lt;script&gt;" in page.text


async def test_every_user_is_on_one_page(sign_in: SignIn, store: Store) -> None:
    """Of 120 active users and 60 that have ended, some of them created in the same millisecond, each is on
    one page, newest first; the ended ones without forms."""
    owner = await sign_in()
    async with store.transaction() as tx:
        await tx.execute(_MORE_USERS)
    for listed, count, on_a_page in (("active", 120, [50, 50, 20]), ("ended", 60, [50, 10])):
        pages, path = [], f"/portal/people?list={listed}"
        while path:
            page = await owner.get(path)
            pages.append([int(found) for found in re.findall(r"person-(\d+)@", page.text)])
            assert ("/role" in page.text) is (listed == "active")
            more = re.search(r'href="(/portal/people\?list=\w+&amp;before=[^"]+)"', page.text)
            path = more[1].replace("&amp;", "&") if more else ""
        assert sorted(sum(pages, [])) == sorted(n for n in range(180) if (n % 3 == 0) is (listed == "ended"))
        assert [len(page) for page in pages][:-1] == on_a_page[:-1] and len(sum(pages, [])) == count
        moments = [number // 7 for number in sum(pages, [])]
        assert moments == sorted(moments, reverse=True)


async def test_a_position_that_no_page_links_to_is_refused(sign_in: SignIn) -> None:
    owner = await sign_in()
    for query in ("before=7", "before=1-x", "list=all"):
        assert (await owner.get(f"/portal/people?{query}")).status_code == 422, query


async def test_ending_a_user_ends_their_sessions(sign_in: SignIn) -> None:
    owner, trader = await sign_in(), await sign_in(Role.TRADER)
    page = await owner.get("/portal/people")
    assert (await owner.post(action(page, "end", trader.email))).status_code == 303
    assert (await trader.get("/portal")).status_code == 303
    assert (await trader.sign_in()).status_code == 401


async def test_the_last_owner_stays(sign_in: SignIn) -> None:
    owner = await sign_in()
    page = await owner.get("/portal/people")
    assert (await owner.post(action(page, "end", owner.email))).status_code == 409
    assert (await owner.post(action(page, "role", owner.email), role="reader")).status_code == 409


async def test_ids_of_another_tenant_do_not_exist(sign_in: SignIn) -> None:
    owner, stranger = await sign_in(), await sign_in(Role.OWNER, "beta")
    page = await owner.get("/portal/people")
    for end in ("end", "role", "link"):
        response = await stranger.post(action(page, end, owner.email), role="reader")
        assert response.status_code == 404, end
    assert owner.email not in (await stranger.get("/portal/people")).text
    assert (await owner.get("/portal")).status_code == 200


async def test_a_second_factor_is_required_once_it_is_confirmed(sign_in: SignIn) -> None:
    person = await sign_in(Role.READER)
    begun = await person.post("/portal/account/second-factor")
    secret = found_in(begun.text, r'<code class="secret">([A-Z2-7]+)</code>')
    assert "<svg" in begun.text
    assert (await person.post("/portal/account/second-factor/confirm", code="000000")).status_code != 303
    code = pyotp.TOTP(secret).now()
    assert (await person.post("/portal/account/second-factor/confirm", code=code)).status_code == 303
    assert (await person.sign_in()).status_code == 401
    assert (await person.sign_in(code=code)).status_code == 401, "a code works once"


async def test_sessions_are_listed_and_ended_one_by_one(
    sign_in: SignIn, person: Person, client: httpx.AsyncClient
) -> None:
    other = Person(client, person.email)
    await other.sign_in()
    page = await person.get("/portal/account")
    ends = re.findall(r'action="(/portal/account/sessions/[^"]+/end)"', page.text)
    assert len(ends) == 2
    assert (await person.post("/portal/account/sessions/end-others")).status_code == 303
    assert (await other.get("/portal")).status_code == 303
    assert (await person.get("/portal")).status_code == 200
    stranger = await sign_in(Role.OWNER, "beta")
    assert (await stranger.post(ends[0])).status_code == 404
