"""Tenants with keys, and grants that listen."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from app.access import admin
from app.access.admin import IssuedKey
from app.access.api_keys import KeyProperties
from app.access.grants import Grants
from app.store.connections import Store
from app.store.counters import Counters
from scripts.services import Services
from tests.support.eventually import eventually
from tests.support.meanwhile import meanwhile

SECRET = "a-secret-of-at-least-thirty-two-characters"
BY: dict[str, Any] = {"by": "tester", "now": 1000}
Issue = Callable[..., Awaitable[IssuedKey]]


@pytest.fixture
def issue(store: Store) -> Issue:
    """Issue a key to tenant `acme`, created when missing, with these properties."""

    async def make(**properties: Any) -> IssuedKey:
        key_properties = KeyProperties(**{"bundles": ("cs2.odds.basic",)} | properties)
        async with store.transaction() as tx:
            await admin.create_tenant(tx, "acme", "Acme", **BY)
            return await admin.issue_key(tx, "acme", key_properties, secret=SECRET, **BY)

    return make


@asynccontextmanager
async def running(store: Store) -> AsyncIterator[Grants]:
    """Grants as another process has them: hearing of changes on a connection of their own."""
    grants = Grants(store, SECRET)
    async with meanwhile(grants.run()):
        await eventually(lambda: grants.listening)
        yield grants


@pytest.fixture
async def grants(store: Store) -> AsyncIterator[Grants]:
    async with running(store) as listening:
        yield listening


@pytest.fixture
async def counters(services: Services) -> AsyncIterator[Counters]:
    async with Counters(services.redis_url) as counters:
        yield counters
