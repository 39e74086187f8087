"""Open streams: how many a session may have, and what they cost while they look whether sessions last."""

import asyncio
from collections.abc import Collection
from contextlib import ExitStack
from uuid import UUID, uuid4

import pytest

from app.kit.errors import Unavailable
from app.sites.pages.event_streams import PER_SESSION, OpenStreams


class Sessions:
    """Who is signed in, and for which sessions that was asked."""

    def __init__(self) -> None:
        self.valid: set[UUID] = set()
        self.reads: list[set[UUID]] = []
        self.now = 0.0
        self.failing = False
        self.streams = OpenStreams(self.read, 1.0, lambda: self.now)

    async def read(self, ids: Collection[UUID]) -> set[UUID]:
        self.reads.append(set(ids))
        await asyncio.sleep(0)
        if self.failing:
            raise Unavailable("no database")
        return self.valid & set(ids)


@pytest.fixture
def sessions() -> Sessions:
    return Sessions()


@pytest.fixture
def one(sessions: Sessions) -> UUID:
    """A session that is valid."""
    session_id = uuid4()
    sessions.valid.add(session_id)
    return session_id


def test_a_session_has_room_for_so_many(sessions: Sessions, one: UUID) -> None:
    with ExitStack() as stack:
        for _ in range(PER_SESSION):
            assert sessions.streams.has_room(one)
            stack.enter_context(sessions.streams.counted(one))
        assert not sessions.streams.has_room(one)
    assert sessions.streams.has_room(one)


async def test_all_open_streams_are_read_at_once(sessions: Sessions, one: UUID) -> None:
    other = uuid4()
    with sessions.streams.counted(one), sessions.streams.counted(one), sessions.streams.counted(other):
        found = await asyncio.gather(*(sessions.streams.lasts(each) for each in (one, one, other)))
        assert found == [True, True, False] and sessions.reads == [{one, other}]
        sessions.now = 0.9
        assert await sessions.streams.lasts(one) and len(sessions.reads) == 1
        sessions.valid.clear()
        sessions.now = 1.0
        assert not await sessions.streams.lasts(one) and len(sessions.reads) == 2


async def test_a_session_that_opens_a_stream_between_two_reads_lasts(sessions: Sessions, one: UUID) -> None:
    with sessions.streams.counted(one):
        assert await sessions.streams.lasts(one)
        late = uuid4()
        with sessions.streams.counted(late):
            assert await sessions.streams.lasts(late)
            sessions.now = 1.0
            assert not await sessions.streams.lasts(late)


async def test_without_the_database_sessions_last(sessions: Sessions, one: UUID) -> None:
    sessions.failing = True
    with sessions.streams.counted(one):
        assert await sessions.streams.lasts(one)
        sessions.failing, sessions.now = False, 1.0
        sessions.valid.clear()
        assert not await sessions.streams.lasts(one)


async def test_who_leaves_does_not_cancel_the_read_of_others(sessions: Sessions, one: UUID) -> None:
    with sessions.streams.counted(one):
        first, second = (asyncio.create_task(sessions.streams.lasts(one)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert await second and len(sessions.reads) == 1
