"""Keys for the operators' API."""

import pytest

from app.settings import Settings
from app.store.connections import Store
from tests.support.web import IssueKey, issuing


@pytest.fixture
def issue(store: Store, settings: Settings) -> IssueKey:
    return issuing(store, settings.secret_key)


@pytest.fixture
async def operator(issue: IssueKey) -> dict[str, str]:
    """Headers with an operator's key."""
    return {"X-API-Key": await issue("house", bundles=("cs2.operator",))}


@pytest.fixture
async def basic(issue: IssueKey) -> dict[str, str]:
    """Headers with a bookmaker's key."""
    return {"X-API-Key": await issue(bundles=("cs2.odds.basic",))}
