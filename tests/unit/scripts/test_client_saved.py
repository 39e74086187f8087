"""What the client package stores of changes, and how it goes on from there."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from matchfeed_client import Book, Changes, Client, ClientError, Rest
from matchfeed_client.stream import Stream

from tests.unit.scripts.test_client_changes import (  # noqa: F401
    Service,
    _at_once,
    alive,
    events,
    market,
    page,
    shown,
)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return tmp_path / "changes.json"


def snapshot(*, by_events: bool) -> httpx.Response:
    frames = [market(1, 4, snapshot=True), market(2, 5, snapshot=True), alive(5, snapshot=True)]
    return events(*frames) if by_events else page(frames, next_since_seq=5)


async def follow(saved: Path, *answers: httpx.Response | Exception, **options: Any) -> Changes:
    """A client that has had all answers, and has ended then."""
    return await Service(*answers).follow(None, saved=saved, **options)


@pytest.mark.parametrize("by_events", [False, True])
async def test_a_client_goes_on_where_the_one_before_ended(saved: Path, *, by_events: bool) -> None:
    before = await follow(saved, snapshot(by_events=by_events), events=by_events)
    missed = [market(2, 6, "settled"), market(3, 7), alive(7, snapshot=False)]
    service = Service(events(*missed) if by_events else page(missed, next_since_seq=7))
    async with Rest("http://service", "key", httpx.MockTransport(service.answer)) as rest:
        changes = Changes(rest, saved=saved, events=by_events)
        assert changes.since == 5 and changes.book.offers == before.book.offers
        open_then = []
        async for frame in changes:
            open_then.append(shown(changes.book))
            if frame["type"] == "alive":
                break
    assert service.asked[0]["since_seq"] == "5"
    assert open_then == [set(), set(), {"round=1", "round=3"}], "what did not change is open, but not before"


async def test_what_was_not_taken_comes_again(saved: Path) -> None:
    """A program that fails with a frame has not had it."""
    service = Service(
        events(market(1, 4, snapshot=True), alive(4, snapshot=True), market(2, 5), market(3, 6))
    )
    with pytest.raises(ZeroDivisionError):
        async with Rest("http://service", "key", httpx.MockTransport(service.answer)) as rest:
            frames = aiter(Changes(rest, saved=saved, events=True))
            async for frame in frames:
                if frame["meta"]["seq"] == 6:
                    await frames.aclose()  # type: ignore[attr-defined]
                    raise ZeroDivisionError
    async with Rest("http://service", "key", httpx.MockTransport(service.answer)) as rest:
        assert Changes(rest, saved=saved).since == 5


@pytest.mark.parametrize("cut", [httpx.ReadError("cut off"), httpx.Response(403, json={"detail": "no"})])
async def test_a_part_of_a_snapshot_is_not_stored(saved: Path, cut: httpx.Response | Exception) -> None:
    service = Service(page([market(1, 4, snapshot=True)], next_cursor="4-1"), cut)
    with suppress(ClientError):
        await service.follow(None, saved=saved)
    assert Changes(Rest("http://service", "key"), saved=saved).since is None


async def test_files_of_other_clients_are_refused(saved: Path) -> None:
    await follow(saved, snapshot(by_events=False), match="m")
    for make in (
        lambda: Changes(Rest("http://service", "key"), saved=saved),
        lambda: Stream("http://service", "key", saved=saved),
        lambda: Client("amqp://nowhere", "http://service", "key", saved=saved),
    ):
        with pytest.raises(ClientError, match="holds no book"):
            make()
    stream = Stream("http://service", "key", match="m", saved=saved)
    assert stream.since == 5 and stream.book.stale


def test_a_book_that_is_given_is_not_that_of_the_file(saved: Path) -> None:
    book = Book()
    assert Stream("http://service", "key", book=book, since=7, saved=saved).book is book
