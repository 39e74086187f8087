"""The application, its store and keys."""

from collections.abc import AsyncIterator

import httpx
import pytest

from app.settings import Settings
from tests.support.facade import with_sdk_address
from tests.support.web import IssueKey, serving


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(with_sdk_address(settings)) as client:
        yield client


@pytest.fixture
async def key(issue: IssueKey) -> dict[str, str]:
    """Headers with a bookmaker's key without a rate limit."""
    raw = await issue(bundles=("cs2.odds.basic",), rate_limit_rpm=1_000_000, probabilities=True)
    return {"x-access-token": raw}
