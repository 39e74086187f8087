"""The application, its store, and keys of every kind."""

import pytest

from app.store.connections import Store
from tests.support.facade import World, create_world
from tests.support.web import IssueKey


@pytest.fixture
async def basic(issue: IssueKey) -> dict[str, str]:
    """Headers with the key of a bookmaker who receives probabilities."""
    return {"x-access-token": await issue(bundles=("cs2.odds.basic",), probabilities=True)}


@pytest.fixture
async def world(store: Store) -> World:
    return await create_world(store)
