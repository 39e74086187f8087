import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from app.settings import Settings
from app.store.connections import Store
from tests.faults.broker import PrivateBroker
from tests.faults.rig import Rig, rigged


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateBroker]:
    """Running, with memory enough: so each test leaves it."""
    broker = PrivateBroker(tmp_path_factory.mktemp("broker"))
    asyncio.run(broker.start())
    yield broker
    broker.close()


@pytest.fixture
async def rig(settings: Settings, store: Store, tmp_path: Path) -> AsyncIterator[Rig]:
    async with rigged(settings, store, tmp_path) as rig:
        yield rig


@pytest.fixture
async def key_rig(
    settings: Settings, store: Store, tmp_path: Path, broker: PrivateBroker
) -> AsyncIterator[Rig]:
    """On the private broker, which the keys of the test's database may log in to."""
    broker.admit_keys(settings)
    async with rigged(broker.used_by(settings), store, tmp_path) as rig:
        yield rig
