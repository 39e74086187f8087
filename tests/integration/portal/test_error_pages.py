"""What the portal does not have is refused by a page of its own, at every address."""

import re
from uuid import uuid4

import httpx
import pytest

from app.domain.user import Role
from tests.integration.portal.conftest import SignIn
from tests.support.portal import Person, read_routes

_VALUES = {"int": "7", "str": "od:match:7", "uuid": str(uuid4())}


@pytest.fixture
async def person(sign_in: SignIn) -> Person:
    return await sign_in(Role.OWNER)


def is_error_page(response: httpx.Response) -> bool:
    html = response.headers["content-type"] == "text/html; charset=utf-8"
    return html and 'role="alert"' in response.text and "Content-Security-Policy" in response.headers


async def test_an_unknown_parameter_is_refused_on_every_page(person: Person) -> None:
    for route in sorted(read_routes(person.client)):
        path = re.sub(r"\{\w+:(\w+)\}", lambda found: _VALUES[found[1]], route)
        for query in ("nonsense=1", "done=x&nonsense=", "nonsense=%00"):
            response = await person.get(f"{path}?{query}")
            assert response.status_code == 422 and is_error_page(response), f"{path}?{query}"
    russian = await person.get("/portal/offer?nonsense=1", headers={"Accept-Language": "ru"})
    assert "нет параметра nonsense" in russian.text


@pytest.mark.parametrize(
    "path",
    [
        *("nothing", "keys/nothing/more", "settlements/x", "envelopes/7/body/more", "matches"),
        *("feed/events/7", "people/x/role/y", "%F0%9F%8E%BE", "recoveries/0x7/progress", "offer/list"),
        "people/nobody",
    ],
)
async def test_a_page_that_does_not_exist_is_a_page(
    person: Person, client: httpx.AsyncClient, path: str
) -> None:
    for reader in (person.client, client):
        response = await reader.get(f"/portal/{path}")
        assert response.status_code == 404 and is_error_page(response)
    russian = await person.get(f"/portal/{path}", headers={"Accept-Language": "ru"})
    assert "По этому адресу ничего нет" in russian.text


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
