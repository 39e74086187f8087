"""A web process that polls often, and keys of every kind."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from app.settings import Settings
from app.store.connections import Store
from tests.support.story import Story
from tests.support.streaming import streaming
from tests.support.web import IssueKey, issuing


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
def issue(store: Store, settings: Settings) -> IssueKey:
    return issuing(store, settings.secret_key)


@pytest.fixture
async def raw(issue: IssueKey) -> str:
    """A bookmaker's key."""
    return await issue(bundles=("cs2.odds.basic", "cs2.odds.scoreboard-addon"))


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)
