"""Who may send a request to the console, on which listener; and the headers of its pages."""

import httpx
import pytest
from msgspec.structs import replace

from app.domain.tenant import OperatorRole, Role
from app.settings import Settings
from app.store.connections import Store
from tests.integration.sites.console.conftest import SignIn
from tests.support.portal import Person, add_operator, add_user, check_policy, is_error_page
from tests.support.queues import private_vhost
from tests.support.web import serving

PAGES = ("/console", "/console/settlements", "/console/tenants", "/console/audit", "/console/account")
SIGN_IN = "/console/sign-in"


async def test_pages_need_a_session(client: httpx.AsyncClient) -> None:
    for path in PAGES:
        response = await client.get(path)
        assert response.status_code == 303 and response.headers["location"] == f"{SIGN_IN}?next={path}", path


@pytest.mark.parametrize("path", [*PAGES, SIGN_IN])
@pytest.mark.parametrize("language", ["en", "ru"])
async def test_pages_load_nothing_from_elsewhere(sign_in: SignIn, path: str, language: str) -> None:
    page = await (await sign_in(OperatorRole.VIEWER)).get(path, headers={"Accept-Language": language})
    assert (
        page.status_code == 200
        and f'<html lang="{language}" data-theme="dark" data-size="dense">' in page.text
    )
    check_policy(page)


async def test_people_of_tenants_do_not_get_in_and_operators_not_into_the_portal(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    tenant_user = await add_user(store, settings, "acme", Role.OWNER)
    operator = await add_operator(store, settings, OperatorRole.ADMIN)
    assert (await Person(client, tenant_user, "/console").sign_in()).status_code == 401
    assert (await Person(client, operator, "/portal").sign_in()).status_code == 401


async def test_the_session_of_one_site_is_none_of_the_other(
    sign_in: SignIn, client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    operator = await sign_in()
    token = operator.client.cookies["matchfeed-console"]
    portal = await client.get("/portal", headers={"Cookie": f"matchfeed-session={token}"})
    assert portal.status_code == 303
    person = Person(client, await add_user(store, settings, "acme", Role.OWNER))
    await person.sign_in()
    token = client.cookies["matchfeed-session"]
    console = await operator.client.get("/console", headers={"Cookie": f"matchfeed-console={token}"})
    assert console.status_code == 303


async def test_a_change_needs_the_csrf_token_of_its_own_session(sign_in: SignIn) -> None:
    person, other = await sign_in(), await sign_in(OperatorRole.VIEWER)
    for forged in ("", other.csrf_token):
        response = await person.client.post("/console/sign-out", data={"csrf_token": forged})
        assert response.status_code == 403
    headers = {"Sec-Fetch-Site": "cross-site"}
    response = await person.client.post(
        "/console/sign-out", data={"csrf_token": person.csrf_token}, headers=headers
    )
    assert response.status_code == 403
    assert (await person.post("/console/sign-out")).status_code == 303
    assert (await person.get("/console")).status_code == 303


async def test_only_the_operators_listener_serves_it(settings: Settings) -> None:
    separate = replace(settings, operator_port=8101)
    async with private_vhost(separate) as private, serving(private) as public:
        for path in (*PAGES, SIGN_IN, "/console/assets/x/pages.css", "/CONSOLE", "/console/", "//console"):
            assert (await public.get(f"http://matchfeed.test:8000{path}")).status_code == 404, path
        own = "http://matchfeed.test:8101"
        assert (await public.get(f"{own}{SIGN_IN}")).status_code == 200
        assert (await public.get(f"{own}/console")).status_code == 303
        assert (await public.get(f"{own}/portal/sign-in")).status_code == 404
        for odd in ("/CONSOLE", "//console", "/console//live/events"):
            assert (await public.get(f"{own}{odd}")).status_code == 404, odd


async def test_an_unknown_parameter_is_refused_with_a_page(client: httpx.AsyncClient) -> None:
    response = await client.get("/console?nonsense=1")
    assert response.status_code == 422 and response.headers["content-type"].startswith("text/html")


async def test_signing_in_leads_to_no_other_site(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    person = Person(client, await add_operator(store, settings, OperatorRole.VIEWER), "/console")
    for path in ("https://evil.test/console", "/portal", "/console\\..\\x"):
        assert (await person.sign_in(next=path)).headers["location"] == "/console"
    assert (await person.sign_in(next="/console/audit")).headers["location"] == "/console/audit"


async def test_an_unknown_address_below_it_is_an_error_page(
    sign_in: SignIn, client: httpx.AsyncClient
) -> None:
    """Of the console, in the language of the reader, signed in or not; a wrong method, too."""
    operator = await sign_in(OperatorRole.VIEWER)
    for reader in (operator.client, client):
        for path in ("nothing", "matches/x/nothing", "settlements/x"):
            page = await reader.get(f"/console/{path}")
            assert page.status_code == 404 and is_error_page(page, "/console"), path
    refused = await operator.client.delete("/console")
    assert refused.status_code == 405 and is_error_page(refused, "/console")
    russian = await operator.get("/console/nothing", headers={"Accept-Language": "ru"})
    assert "По этому адресу ничего нет" in russian.text and 'href="/console/audit"' not in russian.text


async def test_the_public_listener_has_no_error_page_of_it(settings: Settings) -> None:
    separate = replace(settings, operator_port=8101)
    async with private_vhost(separate) as private, serving(private) as public:
        own = await public.get("http://matchfeed.test:8101/console/nothing")
        assert own.status_code == 404 and is_error_page(own, "/console")
        for method in ("GET", "DELETE"):
            hidden = await public.request(method, "http://matchfeed.test:8000/console/nothing")
            assert hidden.status_code == 404 and hidden.headers["content-type"] == "application/json"


async def test_the_look_is_remembered_by_the_browser(client: httpx.AsyncClient) -> None:
    """Each site has its own; what was not chosen stays, and what does not exist is refused."""
    for path in ("/console", "/portal"):
        chosen = await client.post(f"{path}/look", data={"theme": "light", "next": f"{path}/sign-in"})
        assert chosen.status_code == 303 and chosen.headers["location"] == f"{path}/sign-in"
    await client.post("/portal/look", data={"size": "dense"})
    looks = {path: (await client.get(f"{path}/sign-in")).text for path in ("/console", "/portal")}
    assert 'data-theme="light" data-size="dense"' in looks["/console"]
    assert 'data-theme="light" data-size="dense"' in looks["/portal"]
    await client.post("/console/look", data={"theme": "browser", "size": "large"})
    assert 'data-theme="browser" data-size="large"' in (await client.get("/console/sign-in")).text
    assert (await client.post("/console/look", data={"theme": "plaid"})).status_code == 422
