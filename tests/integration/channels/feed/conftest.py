import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from app.amqp import loss_notice
from app.broker.address import parse
from app.broker.management import Management
from app.channels.feed.session import FeedConfig, FeedSession
from app.settings import Settings
from app.store.connections import Store
from tests.faults.rig import Consumer, Rig, consuming, rigged
from tests.support.tap import Tap

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
def feed(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Running:
    """Runs a session in this process, ended in good order; times may be turned down. However short the
    interval of `alive` is, clients are notified of silence after 20 s: a second in which the machine stands
    still is no outage."""

    @asynccontextmanager
    async def running(**terms: Any) -> AsyncIterator[FeedSession]:
        beats = 2 * max(1, 10 / terms.get("alive_seconds", 10))
        monkeypatch.setattr(loss_notice, "_OVERDUE_BEATS", beats)
        session = new_session(rig, **terms)
        stopping = asyncio.Event()
        task = asyncio.create_task(session.run(stopping))
        try:
            yield session
        finally:
            stopping.set()
            await task

    return running


def new_session(rig: Rig, management: Management | None = None, **terms: Any) -> FeedSession:
    """A session in this process, which is still to run; `terms` are those of `FeedConfig`."""
    settings = rig.settings
    terms = {"window": 64, "lease_millis": 3000, "alive_seconds": 10} | terms
    config = FeedConfig(settings.exchange, settings.producer_id, **terms)
    broker = parse(settings.rabbitmq_url)
    return FeedSession(rig.store, management or rig.management, broker, config, rig.watch, rig.rest)


@asynccontextmanager
async def tapped(rig: Rig) -> AsyncIterator[Tap]:
    """A way to the broker that keeps what is written; from here on the rig's settings lead by it."""
    (node,) = parse(rig.settings.rabbitmq_url).nodes
    async with Tap(node.host, node.port).open() as tap:
        url = rig.settings.rabbitmq_url.replace(f"@{node.host}:{node.port}", f"@127.0.0.1:{tap.port}")
        rig.settings = replace(rig.settings, rabbitmq_url=url)
        yield tap
