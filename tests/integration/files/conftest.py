"""A directory of daily files, two days in which something happened, and clients that read the files."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, date, datetime
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from app.files import making
from app.files.directory import FileDirectory
from app.files.making import MadeDay
from app.settings import Settings
from app.store.connections import Store
from tests.support.clocks import ManualClock
from tests.support.story import Story
from tests.support.web import serving

DAY, NEXT = date(2023, 11, 14), date(2023, 11, 15)
MIDNIGHT = int(datetime(2023, 11, 15, tzinfo=UTC).timestamp()) * 1000
LATER = MIDNIGHT + 2 * 86_400_000  #: both days are complete
Make = Callable[..., Awaitable[list[MadeDay]]]


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    return replace(settings, files_directory=str(tmp_path / "files"))


@pytest.fixture
def directory(settings: Settings) -> FileDirectory:
    return FileDirectory(Path(settings.files_directory))


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(settings) as client:
        yield client


@pytest.fixture
def times() -> ManualClock:
    """Ten minutes before midnight."""
    return ManualClock(MIDNIGHT - 600_000)


@pytest.fixture
def story(store: Store, times: ManualClock) -> Story:
    return Story(store, times)


@pytest.fixture
def make(store: Store, directory: FileDirectory) -> Make:
    """Make the files of these days, or of both."""

    async def made(*days: date) -> list[MadeDay]:
        return [await making.make_day(store, directory, day, lambda: LATER) for day in days or (DAY, NEXT)]

    return made
