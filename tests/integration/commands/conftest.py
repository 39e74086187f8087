"""The match and the game server of the ingest tests, and commands on the match."""

from typing import Any

import pytest

from app.domain.match import Match
from app.store.connections import Store
from tests.integration.ingest.conftest import NOW, match, server
from tests.support import matches

__all__ = ["match", "server"]


@pytest.fixture
def execute(store: Store, match: Match) -> Any:
    """Execute a command on the match."""
    return lambda command, by="tester", now=NOW: matches.execute(store, match, command, now, by=by)
