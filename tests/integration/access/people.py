"""Tenants with people who may sign in, and what a browser sends.

Redis is shared by all tests, so that addresses are random where a limit counts them.
"""

import secrets
from typing import Any
from uuid import UUID

from app.access import admin, sign_in, users
from app.access.sign_in import IssuedSession
from app.domain.tenant import Role, SignedIn, User
from app.store.connections import Store
from app.store.counters import Counters
from tests.integration.access.conftest import SECRET

PASSWORD = "correct horse battery"
NOW = 1_900_000_000_000
BY: dict[str, Any] = {"by": "tester", "now": NOW}


def some_email() -> str:
    return f"{secrets.token_hex(8)}@example.com"


def some_address() -> str:
    return f"2001:db8:{secrets.randbelow(65536):x}:{secrets.randbelow(65536):x}::1"


async def invited(store: Store, email: str, role: Role = Role.OWNER, slug: str = "acme") -> User:
    """A new user of the tenant, which is created when missing."""
    async with store.transaction() as tx:
        await admin.create_tenant(tx, slug, slug.title(), **BY)
        return await users.create_user(tx, slug, email, "Ann Example", role, **BY)


async def link(store: Store, user: User, now: int = NOW, **options: Any) -> str:
    """The token of a new link of the user."""
    async with store.transaction() as tx:
        issued = await users.issue_link(
            tx, user.tenant_id, user.id, secret=SECRET, by="tester", now=now, **options
        )
    return issued.raw


async def person(store: Store, email: str, role: Role = Role.OWNER, slug: str = "acme") -> User:
    """A new user with `PASSWORD`."""
    user = await invited(store, email, role, slug)
    return await users.redeem_link(store, await link(store, user), PASSWORD, secret=SECRET, now=NOW)


async def enter(
    store: Store,
    counters: Counters,
    email: str,
    password: str = PASSWORD,
    code: str | None = None,
    *,
    now: int = NOW,
    address: str | None = None,
) -> IssuedSession:
    return await sign_in.sign_in(
        store,
        counters,
        email,
        password,
        code,
        address=address or some_address(),
        user_agent="a browser",
        secret=SECRET,
        now=now,
    )


async def signed_in(store: Store, token: str) -> SignedIn:
    """Whom a browser with that token shows to be signed in."""
    found = await sign_in.session_of(store, token, secret=SECRET, now=NOW)
    assert found
    return found


async def valid(store: Store, token: str, now: int = NOW) -> bool:
    """Whether a browser with that token is signed in."""
    return await sign_in.session_of(store, token, secret=SECRET, now=now) is not None


async def session_ids(store: Store, user: User, now: int = NOW) -> list[UUID]:
    async with store.autocommit() as tx:
        return [session.id for session in await sign_in.sessions(tx, user.id, now=now)]
