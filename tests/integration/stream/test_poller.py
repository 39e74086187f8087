"""What a poller does when it cannot look, or has missed something."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import msgspec
import pytest

from app.access.grants import Presented
from app.channels.stream.closing import Code
from app.channels.stream.connection import Connection
from app.channels.stream.lines import texts
from app.channels.stream.poller import Poller
from app.channels.stream.terms import Terms
from app.domain import scopes
from app.domain.tenant import Grant, Tenant
from app.kit.clock import system_clock
from app.kit.errors import Unavailable
from app.store import changes
from app.store.connections import Store
from app.store.transaction import Tx
from tests.support.eventually import eventually
from tests.support.story import Story, offer

TENANT = Tenant(UUID(int=2), "acme", "Acme")
GRANT = Grant(UUID(int=1), TENANT, scopes.BUNDLES["cs2.odds.basic"], frozenset({"cs2"}))
OFTEN = Terms(poll_all_millis=50, poll_match_millis=50, alive_seconds=0.1)


class Moody(Store):
    """A database that may be away."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.away = False
        self.lost = False  #: at the very end of a look
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


class Heard:
    """A line that keeps what is written."""

    congested = False

    def __init__(self) -> None:
        self.frames: list[Any] = []
        self.ended: int | None = None

    def write(self, wire: bytes) -> None:
        self.frames += [msgspec.json.decode(text) for text in texts(wire)]

    def finish(self, code: int, reason: str) -> None:
        self.ended = code

    def kinds(self) -> list[str]:
        return [frame["type"] for frame in self.frames]


@pytest.fixture
def moody(store: Store) -> Moody:
    return Moody(store)


@pytest.fixture
async def poller(moody: Moody) -> AsyncIterator[Poller]:
    poller = Poller(moody, None, OFTEN, system_clock)
    await poller.begin()
    running = asyncio.create_task(poller.run())
    yield poller
    running.cancel()
    await asyncio.wait([running])


async def joined(poller: Poller, since: int | None = None) -> tuple[Connection, Heard]:
    line = Heard()
    connection = Connection(Presented(GRANT, None), line, 1000)
    await poller.join(connection, since)
    return connection, line


async def test_while_the_database_is_away_nothing_is_heard_and_then_everything(
    poller: Poller, moody: Moody, story: Story
) -> None:
    match = await story.match()
    _, line = await joined(poller)

    async def heard() -> int:
        return len(line.frames)

    moody.away = True
    await asyncio.sleep(0)
    settled = await heard()
    await story.offer(match, offer(1))
    await story.settle(match, offer(1))
    await eventually(lambda: _failed(poller), seconds=5)
    before = line.kinds()[settled:]
    assert "market.created" not in before
    moody.away = False

    async def told() -> list[str]:
        return line.kinds()[settled:]

    found = await eventually(told, lambda kinds: "alive" in kinds and "bet_settlement" in kinds)
    assert found.index("market.created") < found.index("bet_settlement") < len(found) - 1
    assert found[-1] == "alive"
    assert line.ended is None


async def test_a_look_that_fails_at_its_end_takes_nothing_in(moody: Moody, story: Story) -> None:
    """Or the next one would find the new price to be an old one."""
    poller = Poller(moody, None, OFTEN, system_clock)
    match = await story.match()
    await story.offer(match, offer(1))
    _, line = await joined(poller)
    await story.offer(match, offer(1, odds=offer(1).odds + 1))
    moody.lost = True
    assert await _failed(poller)
    moody.lost = False
    await poller.tick()
    assert line.frames[-1]["type"] == "market.updated"
    assert line.frames[-1]["data"]["odds"] == float(offer(1).odds + 1)


async def test_who_joins_between_two_looks_hears_that_all_is_as_it_was(moody: Moody, story: Story) -> None:
    poller = Poller(moody, None, OFTEN, system_clock)
    match = await story.match()
    _, first = await joined(poller)
    await story.happen(match, event="Another Cup")
    _, second = await joined(poller, since=10**15)  # which makes it look
    assert second.frames[0]["data"]["event"] == "Another Cup"
    await story.happen(match, event=match.event)
    await poller.tick()
    for line in (first, second):
        assert line.frames[-1]["type"] == "match.updated"
        assert line.frames[-1]["data"]["event"] == match.event


async def _failed(poller: Poller) -> bool:
    """A look has failed by now."""
    try:
        await poller.tick()
    except Unavailable:
        return True
    return False


async def test_who_cannot_be_told_everything_must_come_again(
    poller: Poller, moody: Moody, story: Story, store: Store
) -> None:
    match = await story.match()
    await story.offer(match, offer(1))
    _, line = await joined(poller)
    moody.away = True
    for number in range(2, 5):
        await story.offer(match, offer(number))
    async with store.transaction() as tx:
        assert await changes.prune(tx, 2**60)
    moody.away = False
    await _ended(line)
    connection, again = await joined(poller)
    assert again.kinds().count("market.updated") == 4
    poller.leave(connection)


async def test_a_fault_of_ours_ends_its_connections_and_not_the_poller(
    poller: Poller, moody: Moody, story: Story
) -> None:
    match = await story.match()
    _, line = await joined(poller)
    moody.fault = RuntimeError("nobody thought of that")
    await _ended(line)
    moody.fault = None
    _, again = await joined(poller)
    await story.offer(match, offer(1))

    async def told() -> bool:
        return "market.created" in again.kinds()

    await eventually(told)


async def _ended(line: Heard) -> None:
    async def ended() -> int | None:
        return line.ended

    assert await eventually(ended) == Code.FAULT
