"""Who may send a request to the portal: sessions, CSRF tokens, other sites, roles; and the pages' headers."""

import httpx
import pytest
from msgspec.structs import replace

from app.domain.tenant import Role
from app.settings import Settings
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn
from tests.support.portal import PASSWORD, Person, add_user, check_policy, is_error_page, some_address
from tests.support.queues import private_vhost
from tests.support.web import serving

PAGES = (
    "/portal",
    "/portal/keys",
    "/portal/amqp",
    "/portal/docs",
    "/portal/people",
    "/portal/account",
    "/portal/feed",
    "/portal/envelopes",
    "/portal/recoveries",
)
SIGN_IN = "/portal/sign-in"


async def test_pages_need_a_session(client: httpx.AsyncClient) -> None:
    for path in PAGES:
        response = await client.get(path)
        assert response.status_code == 303, path
        assert response.headers["location"] == f"{SIGN_IN}?next={path}", path
        partial = await client.get(path, headers={"HX-Request": "true"})
        assert partial.status_code == 204 and partial.headers["hx-redirect"].startswith(SIGN_IN), path


@pytest.mark.parametrize("path", [*PAGES, SIGN_IN])
async def test_pages_load_nothing_from_elsewhere_and_cannot_be_framed(sign_in: SignIn, path: str) -> None:
    page = await (await sign_in()).get(path)
    assert page.status_code == 200 and page.headers["cache-control"] == "no-store"
    assert page.headers["x-frame-options"] == "DENY"
    check_policy(page)


async def test_the_cookie_cannot_be_read_by_scripts_nor_sent_by_other_sites(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    email = await add_user(store, settings, "acme", Role.READER)
    for response in await with_cookies(Person(client, email)):
        cookie = response.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=lax" in cookie and "path=/" in cookie


async def test_under_tls_the_cookie_is_of_this_host_alone(store: Store, settings: Settings) -> None:
    email = await add_user(store, settings, "acme", Role.READER)
    public = replace(settings, public_url="https://matchfeed.test")
    async with private_vhost(public) as private, serving(private, address=some_address()) as client:
        names = []
        for response in await with_cookies(Person(client, email)):
            name, _, rest = response.headers["set-cookie"].partition("=")
            names.append(name)
            assert {"secure", "httponly", "path=/", "samesite=lax"} <= set(rest.lower().split("; "))
            assert "domain=" not in rest.lower()
        assert names == ["__Host-matchfeed-session", "matchfeed-language"]


async def with_cookies(person: Person) -> tuple[httpx.Response, ...]:
    """The responses that set the cookies of the portal: of the session and of the language."""
    return await person.sign_in(), await person.post("/portal/language", language="ru", next="/portal")


async def test_signing_in_replaces_a_planted_session(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    """Session fixation: a token that the client brought is never the one of the new session."""
    email = await add_user(store, settings, "acme", Role.READER)
    client.cookies.set("matchfeed-session", "planted")
    response = await client.post(SIGN_IN, data={"email": email, "password": PASSWORD})
    assert response.status_code == 303
    assert client.cookies.get("matchfeed-session", domain="matchfeed.test") != "planted"
    other = await client.get("/portal", headers={"Cookie": "matchfeed-session=planted"})
    assert other.status_code == 303


async def test_a_stolen_cookie_is_worthless_after_signing_out(person: Person) -> None:
    stolen = {"Cookie": f"matchfeed-session={person.client.cookies['matchfeed-session']}"}
    assert (await person.post("/portal/sign-out")).status_code == 303
    assert (await person.client.get("/portal", headers=stolen)).status_code == 303


@pytest.mark.parametrize("token", ["", "0" * 64, "кириллица"])
async def test_a_change_needs_the_csrf_token_of_its_own_session(sign_in: SignIn, token: str) -> None:
    person, other = await sign_in(), await sign_in(Role.READER)
    for forged in (token, other.csrf_token):
        response = await person.client.post("/portal/sign-out", data={"csrf_token": forged})
        assert response.status_code == 403
    assert (await person.get("/portal")).status_code == 200


async def test_no_other_site_may_submit_a_form(person: Person) -> None:
    fields = {"csrf_token": person.csrf_token}
    for headers in [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.test"},
        {"Origin": "null"},
        {"Origin": "https://["},
    ]:
        for path in ("/portal/sign-out", "/portal/sign-in", "/portal/language"):
            response = await person.client.post(path, data=fields, headers=headers)
            assert response.status_code == 403, path


@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.TRADER, Role.READER])
async def test_only_owners_manage_people(sign_in: SignIn, role: Role) -> None:
    owner, person = await sign_in(), await sign_in(role)
    listed = await person.get("/portal/people")
    assert listed.status_code == 200 and 'action="/portal/people"' not in listed.text
    fields = {"email": "new@acme.test", "name": "New", "role": "owner"}
    assert (await person.post("/portal/people", **fields)).status_code == 403
    assert "new@acme.test" not in (await owner.get("/portal/people")).text


@pytest.mark.parametrize(
    "path",
    ["https://evil.test/portal", "//evil.test/portal", "/other", "/portal\\..\\x", "//[", "/portal\r\nX: y"]
    + ["/portal/../../x", "/portal/%2e%2E/x", "/portal/./../x"],
)
async def test_signing_in_leads_to_no_other_site(
    client: httpx.AsyncClient, store: Store, settings: Settings, path: str
) -> None:
    person = Person(client, await add_user(store, settings, "acme", Role.READER))
    response = await person.sign_in(next=path)
    assert response.headers["location"] == "/portal"


async def test_assets_are_gzipped_for_those_who_accept_it(client: httpx.AsyncClient) -> None:
    asset = "/portal/assets/x/htmx.min.js"
    plain = await client.get(asset, headers={"Accept-Encoding": "identity"})
    gzipped = await client.get(asset, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers and gzipped.headers["content-encoding"] == "gzip"
    assert plain.content == gzipped.content
    assert gzipped.num_bytes_downloaded < plain.num_bytes_downloaded / 2
    assert plain.headers["vary"] == gzipped.headers["vary"] == "Accept-Encoding"


async def test_a_person_sends_so_many_requests_a_minute(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is refused for another reason counts, too."""
    person, other = await sign_in(Role.READER), await sign_in()
    monkeypatch.setattr("app.access.rate_limit.PAGES_PER_MINUTE", 5)
    statuses = [(await person.post("/portal/keys")).status_code for _ in range(6)]
    assert statuses == [403] * 4 + [429] * 2, "the page after signing in was the first"
    refused = await person.get("/portal", headers={"Accept-Language": "ru"})
    assert is_error_page(refused) and "5 запросов за минуту" in refused.text
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert (await other.get("/portal")).status_code == 200
