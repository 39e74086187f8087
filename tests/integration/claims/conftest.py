"""A result that a tenant may claim to be wrong."""

from collections.abc import AsyncIterator

import pytest

from app.settings import Settings
from app.store.connections import Store
from tests.support.claims import Dispute, disputed
from tests.support.web import IssueKey


@pytest.fixture
async def dispute(settings: Settings, store: Store, issue: IssueKey) -> AsyncIterator[Dispute]:
    async with disputed(settings, store, issue) as dispute:
        yield dispute
