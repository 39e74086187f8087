"""What the portal does not have is refused by a page of its own, at every address."""

import re
from uuid import uuid4

import httpx

from tests.support.portal import Person, is_error_page, read_routes

_VALUES = {"int": "7", "str": "od:match:7", "uuid": str(uuid4())}


async def test_an_unknown_parameter_is_refused_on_every_page(
    person: Person, client: httpx.AsyncClient
) -> None:
    """With a session and without one: the guard of all requests refuses it, before the site's own has run."""
    for route in sorted(read_routes(client)):
        path = re.sub(r"\{\w+:(\w+)\}", lambda found: _VALUES[found[1]], route)
        for query in ("nonsense=1", "done=x&nonsense=", "nonsense=%00"):
            for reader in (person.client, client):
                response = await reader.get(f"{path}?{query}")
                assert response.status_code == 422 and is_error_page(response), f"{path}?{query}"
                assert '<html lang="en" ' in response.text
    for reader in (person.client, client):
        russian = await reader.get("/portal/offer?nonsense=1", headers={"Accept-Language": "ru"})
        assert '<html lang="ru" ' in russian.text and "нет параметра nonsense" in russian.text


async def test_a_page_that_does_not_exist_is_a_page(person: Person, client: httpx.AsyncClient) -> None:
    for path in [
        *("nothing", "keys/nothing/more", "settlements/x", "envelopes/7/body/more", "matches"),
        *("feed/events/7", "people/x/role/y", "%F0%9F%8E%BE", "recoveries/0x7/progress", "offer/list"),
        "people/nobody",
    ]:
        for reader in (person.client, client):
            response = await reader.get(f"/portal/{path}")
            assert response.status_code == 404 and is_error_page(response), path
        russian = await person.get(f"/portal/{path}", headers={"Accept-Language": "ru"})
        assert "По этому адресу ничего нет" in russian.text, path


async def test_another_method_is_refused_with_a_page(person: Person) -> None:
    for method, path in (
        ("DELETE", "/portal/offer"),
        ("POST", "/portal/settlements"),
        ("GET", "/portal/sign-out"),
    ):
        response = await person.client.request(method, path)
        assert response.status_code == 405 and is_error_page(response), path


async def test_other_addresses_are_refused_as_before(person: Person) -> None:
    response = await person.client.get("/portals")
    assert response.status_code == 404 and response.headers["content-type"] == "application/json"
