"""People at the portal and the console (`scripts.lab.person`), for tests."""

import html
import re
import secrets
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher
from litestar.routes import HTTPRoute

from app.access import admin, credentials
from app.domain.tenant import Role
from app.settings import Settings
from app.store.connections import Store
from scripts.lab import person
from scripts.lab.person import PASSWORD, Person, add_operator

__all__ = ["PASSWORD", "Person", "add_operator"]  # of a module of scripts
SCRIPT = "<script>alert(1)</script>"  #: a name that must be no markup


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash as little as argon2 can: what passwords cost is tested where they are (`access`)."""
    monkeypatch.setattr(credentials, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def found_in(text: str, pattern: str) -> str:
    """The group of a pattern where a page has it first, without the escapes of markup."""
    found = re.search(pattern, text, re.DOTALL)
    assert found, text
    return html.unescape(found[1])


def some_address() -> str:
    """An address of a test's own: attempts to sign in are counted by address, and tests share a Redis."""
    return f"10.{'.'.join(str(secrets.randbelow(256)) for _ in range(3))}"


def is_error_page(response: httpx.Response, site: str = "/portal") -> bool:
    html = response.headers["content-type"] == "text/html; charset=utf-8"
    shown = 'role="alert"' in response.text and f"{site}/assets/" in response.text
    return html and shown and "Content-Security-Policy" in response.headers


def check_policy(page: httpx.Response) -> None:
    """Check that a page loads nothing from elsewhere, is in no frame, and needs no inline style or script."""
    policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert set(policy.values()) == {"'none'", "'self'"}
    assert " style=" not in page.text and "<style" not in page.text and " onclick" not in page.text


def dependencies_of(client: httpx.AsyncClient, site: str) -> Any:
    """What the pages of `portal` or `console` have in the application of the `serving` client."""
    transport: Any = client._transport
    return transport.app.dependencies[site].dependency()


def read_routes(client: httpx.AsyncClient) -> set[str]:
    """The paths of the portal's routes that are read, as the application's `serving` client calls them."""
    transport: Any = client._transport
    found = [each for each in transport.app.routes if isinstance(each, HTTPRoute) and "GET" in each.methods]
    return {each.path for each in found if each.path.startswith("/portal")}


async def add_user(store: Store, settings: Settings, slug: str, role: Role) -> str:
    """Create a user with a password, and the tenant if there is none; the e-mail address."""
    async with store.transaction() as tx:
        await admin.create_tenant(tx, slug, slug.title(), by="tester", now=1)
    return await person.add_user(store, settings, slug, role)
