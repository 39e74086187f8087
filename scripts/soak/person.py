"""A person at the portal or the console: a client with cookies that reads pages and submits their forms."""

import re
import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import httpx

from app.access import users
from app.domain.tenant import OperatorRole, Role, User
from app.settings import Settings
from app.store.connections import Store

PASSWORD = "correct horse battery staple"
_TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')


class Person:
    """A browser without scripts. Its requests follow no redirect."""

    def __init__(self, client: httpx.AsyncClient, email: str, site: str = "/portal") -> None:
        self.client, self.email, self.site = client, email, site
        self.csrf_token = ""

    async def sign_in(self, password: str = PASSWORD, **fields: str) -> httpx.Response:
        response = await self.client.post(
            f"{self.site}/sign-in", data={"email": self.email, "password": password, **fields}
        )
        if response.status_code == 303:
            await self.get(self.site)
        return response

    async def get(self, path: str, **options: Any) -> httpx.Response:
        """A page; the CSRF token of its forms is that of later submissions."""
        response = await self.client.get(path, **options)
        if found := _TOKEN.search(response.text):
            self.csrf_token = found[1]
        return response

    async def post(self, path: str, files: Any = None, /, **fields: Any) -> httpx.Response:
        """Submit a form as a page of ours would."""
        headers = {"Sec-Fetch-Site": "same-origin"}
        data = {"csrf_token": self.csrf_token, **fields}
        return await self.client.post(path, data=data, files=files, headers=headers)


async def add_user(store: Store, settings: Settings, slug: str, role: Role) -> str:
    """Create a user of that tenant with a password; the e-mail address."""
    return await _add(store, settings, partial(users.create_user, slug=slug), role, slug)


async def add_operator(store: Store, settings: Settings, role: OperatorRole) -> str:
    """Create an operator with a password; the e-mail address."""
    return await _add(store, settings, users.create_operator, role, "operators")


async def _add(
    store: Store, settings: Settings, create: Callable[..., Awaitable[User]], role: str, domain: str
) -> str:
    email = f"{role}-{secrets.token_hex(4)}@{domain}.test"
    by: dict[str, Any] = {"by": "tester", "now": 1}
    async with store.transaction() as tx:
        user = await create(tx, email=email, name=f"The {role}", role=role, **by)
        link = await users.issue_link(tx, user.tenant_id, user.id, secret=settings.secret_key, **by)
    await users.redeem_link(store, link.raw, PASSWORD, secret=settings.secret_key, now=1)
    return email
