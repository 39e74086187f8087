"""A match to read."""

import pytest

from app.domain.match import Match
from app.store.connections import Store
from tests.integration.ingest.conftest import NOW, Server
from tests.support.matches import create_match


@pytest.fixture
async def live(store: Store) -> Match:
    """A match in its second round."""
    server = Server(store, await create_match(store, NOW, best_of=3, scheduled_at=NOW))
    await server.begin()
    await server.win(1, 0)
    return await server.state()
