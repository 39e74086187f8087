"""What a poller does when it cannot read the change log, or has missed changes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import msgspec
import pytest

from app.access.grants import PresentedKey
from app.channels.stream.connection import CloseCode, StreamConnection, frame_texts
from app.channels.stream.poller import Poller, StreamConfig
from app.domain import scopes
from app.domain.tenant import Grant, Tenant
from app.kit.clock import system_clock
from app.kit.errors import Unavailable
from app.store import changes
from app.store.connections import Store
from app.store.transaction import Tx
from tests.support.eventually import eventually, succeeds
from tests.support.story import Story, offer

TENANT = Tenant(UUID(int=2), "acme", "Acme")
GRANT = Grant(UUID(int=1), TENANT, scopes.BUNDLES["cs2.odds.basic"], frozenset({"cs2"}))
OFTEN = StreamConfig(poll_all_millis=50, poll_match_millis=50, alive_seconds=0.1)


class FlakyStore(Store):
    """A database that can be made unavailable."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.away = False
        self.lost = False  #: the connection, at the very end of a read
        self.fault: Exception | None = None

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Tx]:
        if self.fault:
            raise self.fault
        if self.away:
            raise Unavailable("away")
        async with self._store.snapshot() as tx:
            yield tx
            if self.lost:
                raise Unavailable("lost")


class RecordingTransport:
    """Records the frames that are written."""

    congested = False

    def __init__(self) -> None:
        self.frames: list[Any] = []
        self.ended: int | None = None

    def write(self, wire: bytes) -> None:
        self.frames += [msgspec.json.decode(text) for text in frame_texts(wire)]

    def finish(self, code: int, reason: str) -> None:
        self.ended = code

    def kinds(self) -> list[str]:
        return [frame["type"] for frame in self.frames]


@pytest.fixture
def flaky(store: Store) -> FlakyStore:
    return FlakyStore(store)


@pytest.fixture
async def poller(flaky: FlakyStore) -> AsyncIterator[Poller]:
    poller = Poller(flaky, None, OFTEN, system_clock)
    await poller.begin()
    running = asyncio.create_task(poller.run())
    yield poller
    running.cancel()
    await asyncio.wait([running])


async def joined(poller: Poller, since: int | None = None) -> tuple[StreamConnection, RecordingTransport]:
    transport = RecordingTransport()
    connection = StreamConnection(PresentedKey(GRANT, None), transport, 1000)
    await poller.join(connection, since)
    return connection, transport


async def test_while_the_database_is_away_nothing_is_sent_and_then_everything(
    poller: Poller, flaky: FlakyStore, story: Story
) -> None:
    match = await story.match()
    _, transport = await joined(poller)

    async def count() -> int:
        return len(transport.frames)

    flaky.away = True
    await asyncio.sleep(0)
    joined_at = await count()
    await story.offer(match, offer(1))
    await story.settle(match, offer(1))
    await eventually(lambda: succeeds(poller.tick(), Unavailable), lambda ticked: not ticked)
    before = transport.kinds()[joined_at:]
    assert "market.created" not in before
    flaky.away = False
    found = await eventually(
        lambda: transport.kinds()[joined_at:], lambda seen: "alive" in seen and "bet_settlement" in seen
    )
    assert found.index("market.created") < found.index("bet_settlement") < len(found) - 1
    assert found[-1] == "alive"
    assert transport.ended is None


async def test_a_read_that_fails_at_its_end_applies_nothing(flaky: FlakyStore, story: Story) -> None:
    """Otherwise the next one would take the new price for an old one."""
    poller = Poller(flaky, None, OFTEN, system_clock)
    match = await story.match(offer(1))
    _, transport = await joined(poller)
    await story.offer(match, offer(1, odds=offer(1).odds + 1))
    flaky.lost = True
    with pytest.raises(Unavailable):
        await poller.tick()
    flaky.lost = False
    await poller.tick()
    assert transport.frames[-1]["type"] == "market.updated"
    assert transport.frames[-1]["data"]["odds"] == float(offer(1).odds + 1)


async def test_a_state_that_came_back_is_sent_to_who_joined_meanwhile(
    flaky: FlakyStore, story: Story
) -> None:
    poller = Poller(flaky, None, OFTEN, system_clock)
    match = await story.match()
    _, first = await joined(poller)
    await story.happen(match, event="Another Cup")
    _, second = await joined(poller, since=10**15)  # which makes it advance
    assert second.frames[0]["data"]["event"] == "Another Cup"
    await story.happen(match, event=match.event)
    await poller.tick()
    for transport in (first, second):
        assert transport.frames[-1]["type"] == "match.updated"
        assert transport.frames[-1]["data"]["event"] == match.event


async def test_clients_are_closed_when_changes_expired_before_they_were_read(
    poller: Poller, flaky: FlakyStore, story: Story, store: Store
) -> None:
    match = await story.match(offer(1))
    _, transport = await joined(poller)
    flaky.away = True
    for number in range(2, 5):
        await story.offer(match, offer(number))
    async with store.transaction() as tx:
        assert await changes.prune(tx, 2**60)
    flaky.away = False
    await _ended(transport)
    connection, again = await joined(poller)
    assert again.kinds().count("market.updated") == 4
    poller.leave(connection)


async def test_a_fault_of_ours_ends_its_connections_and_not_the_poller(
    poller: Poller, flaky: FlakyStore, story: Story
) -> None:
    match = await story.match()
    _, transport = await joined(poller)
    flaky.fault = RuntimeError("unexpected")
    await _ended(transport)
    flaky.fault = None
    _, again = await joined(poller)
    await story.offer(match, offer(1))
    await eventually(lambda: "market.created" in again.kinds())


async def _ended(transport: RecordingTransport) -> None:
    assert await eventually(lambda: transport.ended) == CloseCode.FAULT


async def test_who_begins_to_wait_learns_of_what_was_read_just_before(
    flaky: FlakyStore, story: Story
) -> None:
    poller = Poller(flaky, None, OFTEN, system_clock)
    match = await story.match()
    reached = (await poller.page(GRANT, None, None, 10)).reached
    woken = asyncio.Event()
    with poller.watched(woken, reached):
        assert not woken.is_set()
    await story.offer(match, offer(1))
    await poller.tick()
    with poller.watched(woken, reached):
        assert woken.is_set()
        woken.clear()
        await story.offer(match, offer(2))
        await poller.tick()
        assert woken.is_set()


async def test_a_page_after_changes_expired_is_refused_once(
    flaky: FlakyStore, story: Story, store: Store
) -> None:
    poller = Poller(flaky, None, OFTEN, system_clock)
    match = await story.match(offer(1))
    reached = (await poller.page(GRANT, None, None, 10)).reached
    await story.offer(match, offer(2))
    await story.offer(match, offer(3))
    async with store.transaction() as tx:
        assert await changes.prune(tx, 2**60)
    poller._advanced_at = 0
    with pytest.raises(Unavailable):
        await poller.page(GRANT, reached, None, 10)
    assert (await poller.page(GRANT, reached, None, 10)).frames[-1].seq > reached
