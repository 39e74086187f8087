"""A web process that polls often, and keys of every kind."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from app.settings import Settings
from tests.support.streaming import streaming
from tests.support.web import IssueKey


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The stream polls as often as it can, and sends `alive` each second."""
    return msgspec.structs.replace(
        settings, stream_poll_all_millis=100, stream_poll_match_millis=100, alive_seconds=1
    )


@pytest.fixture
async def host(settings: Settings) -> AsyncIterator[str]:
    async with streaming(settings) as host:
        yield host


@pytest.fixture
async def raw(issue: IssueKey) -> str:
    """A bookmaker's key."""
    return await issue(bundles=("cs2.odds.basic", "cs2.odds.scoreboard-addon"))
