"""The application, a match to read, and keys of every kind."""

from collections.abc import AsyncIterator

import httpx
import pytest

from app.settings import Settings
from app.store.connections import Store
from tests.support.queues import private_vhost
from tests.support.web import IssueKey, issuing, serving


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with private_vhost(settings) as private, serving(private) as client:
        yield client


@pytest.fixture
def issue(store: Store, settings: Settings) -> IssueKey:
    return issuing(store, settings.secret_key)


@pytest.fixture
async def basic(issue: IssueKey) -> dict[str, str]:
    """Headers with a bookmaker's key."""
    return {"X-API-Key": await issue(bundles=("cs2.odds.basic",))}


@pytest.fixture
async def operator(issue: IssueKey) -> dict[str, str]:
    """Headers with an operator's key."""
    return {"X-API-Key": await issue("house", bundles=("cs2.operator",))}
