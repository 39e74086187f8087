from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.settings import Settings
from app.store.connections import Store
from tests.faults.rig import Rig, rigged


@pytest.fixture
async def rig(settings: Settings, store: Store, tmp_path: Path) -> AsyncIterator[Rig]:
    async with rigged(settings, store, tmp_path) as rig:
        yield rig
