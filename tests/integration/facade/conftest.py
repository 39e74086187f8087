"""The application, its store, and keys of every kind."""

from collections.abc import AsyncIterator

import httpx
import pytest
from msgspec.structs import replace

from app.settings import Settings
from app.store import tenants
from app.store.connections import Store
from tests.support.web import IssueKey, issuing, serving


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(settings) as client:
        yield client


@pytest.fixture
def issue(store: Store, settings: Settings) -> IssueKey:
    return issuing(store, settings.secret_key)


@pytest.fixture
async def basic(issue: IssueKey) -> dict[str, str]:
    """Headers with a bookmaker's key."""
    return {"x-access-token": await issue(bundles=("cs2.odds.basic",))}


@pytest.fixture
async def provisioned(store: Store, basic: dict[str, str]) -> dict[str, str]:
    """The bookmaker's key, whose tenant has a vhost."""
    async with store.transaction() as tx:
        tenant = await tenants.by_slug(tx, "acme")
        await tenants.save(tx, replace(tenant, amqp=True))
    return basic
