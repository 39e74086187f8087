"""A ledger that follows a story, ten minutes before the midnight of a day."""

from collections.abc import AsyncIterator

import httpx
import pytest

from app.ledger.writer import LedgerWriter
from app.settings import Settings
from app.store.connections import Store
from tests.support.clocks import ManualClock
from tests.support.story import Story
from tests.support.web import serving

DAY, NEXT = "2031-04-02", "2031-04-03"
MIDNIGHT = 1_932_940_800_000
HOUR = 3_600_000


@pytest.fixture
def times() -> ManualClock:
    return ManualClock(MIDNIGHT - 600_000)


@pytest.fixture
def story(store: Store, times: ManualClock) -> Story:
    return Story(store, times)


@pytest.fixture
def writer(store: Store, settings: Settings, times: ManualClock) -> LedgerWriter:
    return LedgerWriter(store, settings.secret_key, times)


@pytest.fixture
async def client(settings: Settings, times: ManualClock) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(settings, times) as client:
        yield client
