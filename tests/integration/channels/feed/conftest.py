import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from app.broker.address import parse
from app.channels.feed.session import FeedConfig, FeedSession
from app.settings import Settings
from app.store.connections import Store
from tests.faults.rig import Consumer, Rig, consuming, rigged

Running = Callable[..., AbstractAsyncContextManager[FeedSession]]


@pytest.fixture
async def rig(settings: Settings, store: Store, tmp_path: Path) -> AsyncIterator[Rig]:
    async with rigged(settings, store, tmp_path) as rig:
        yield rig


@pytest.fixture
async def consumer(rig: Rig) -> AsyncIterator[Consumer]:
    """A client of a new tenant, to which everything comes that is published to it."""
    _, url = await rig.tenant()
    async with consuming(url, rig.settings.exchange) as consumer:
        yield consumer


@pytest.fixture
def feed(rig: Rig) -> Running:
    """Runs a session in this process, ended in good order; times may be turned down."""

    @asynccontextmanager
    async def running(
        alive_seconds: float = 10,
        lease_millis: int = 3000,
        lag_millis: int = 600_000,
        event_vhost: str = "/",
    ) -> AsyncIterator[FeedSession]:
        configured = rig.settings
        config = FeedConfig(
            configured.exchange,
            configured.producer_id,
            64,
            lease_millis,
            alive_seconds,
            lag_millis,
            event_vhost,
        )
        session = FeedSession(rig.store, rig.management, parse(configured.rabbitmq_url), config, rig.watch)
        stopping = asyncio.Event()
        task = asyncio.create_task(session.run(stopping))
        try:
            yield session
        finally:
            stopping.set()
            await task

    return running
