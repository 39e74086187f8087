"""A tenant, and the connection to which its replays are published."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import pairwise
from typing import Any, cast
from uuid import uuid4

import pytest

from app.amqp.connection import BrokerError
from app.amqp.frames import AmqpMessage
from app.amqp.publishers import FeedPublishers
from app.domain.tenant import Tenant
from app.replay.runner import ReplayRunner
from app.store import cursors, tenants
from app.store.connections import Store
from tests.support.clocks import ManualTime

HOLDER = "feed-1"


class Vhost:
    """A tenant's connection, as far as a replay uses it: `published` are the messages with the time at which
    they were. It fails once so many were (`fails_after`), and publishes nothing beyond `stands_after` until
    `resume` is set."""

    def __init__(self) -> None:
        self.time = ManualTime()
        self.published: list[tuple[float, AmqpMessage]] = []
        self.fails_after = self.stands_after = 10_000_000
        self.queues = self.replayed = self
        self.resume = asyncio.Event()

    async def declare_topic_exchange(self, name: str) -> None:
        assert name == "oddinreplay"

    async def publish(self, message: AmqpMessage) -> None:
        if len(self.published) >= self.stands_after:
            await self.resume.wait()
        if len(self.published) >= self.fails_after:
            self.fails_after = 10_000_000
            raise BrokerError("gone")
        self.published.append((self.time.now, message))

    async def pause(self, seconds: float) -> None:
        self.time.now += seconds

    @property
    def messages(self) -> list[AmqpMessage]:
        return [message for _, message in self.published]

    @property
    def seqs(self) -> list[int]:
        return [cast(int, message.headers["x-seq"]) for message in self.messages]

    @property
    def pauses(self) -> list[float]:
        """The seconds between two messages."""
        return [round(after - before, 3) for (before, _), (after, _) in pairwise(self.published)]


Running = Callable[..., AbstractAsyncContextManager[None]]


@pytest.fixture
async def tenant(store: Store) -> Tenant:
    tenant = Tenant(uuid4(), "books", "Books", amqp=True)
    async with store.transaction() as tx:
        await tenants.insert(tx, tenant, 0)
        await cursors.create_missing(tx)
        await cursors.acquire(tx, HOLDER, 1, 60_000)
    return tenant


@pytest.fixture
def running(store: Store, tenant: Tenant) -> Running:
    """Runs the replays of a feed process; at the end it is killed."""

    @asynccontextmanager
    async def run(vhost: Vhost, *, leased: bool = True) -> AsyncIterator[None]:
        runner = ReplayRunner(
            store,
            HOLDER,
            2,
            FeedPublishers("oddsfeed"),
            reachable=lambda: {tenant.id: tenant.slug},
            channels=lambda _: cast(Any, vhost),
            is_leased=lambda _: leased,
            now=vhost.time.monotonic,
            pause=vhost.pause,
        )
        task = asyncio.create_task(runner.run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    return run
