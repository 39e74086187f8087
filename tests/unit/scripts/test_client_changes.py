"""How the client package follows changes over HTTP: what it requests next, and what its book says."""

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

import httpx
import pytest
from matchfeed_client import Book, Changes, ClientError, Rest

from tests.support.eventually import eventually
from tests.support.meanwhile import meanwhile

Frame = dict[str, Any]
Answer = Callable[[httpx.Request], httpx.Response]


def market(number: int, seq: int, status: str = "active", **meta: Any) -> Frame:
    data = {"match_id": "m", "id": 13, "specifiers": f"round={number}", "status": status, "odds": 1.85}
    return {"type": "market.updated", "data": data, "meta": {"ts": "2031-01-01T00:00:00Z", "seq": seq} | meta}


def alive(seq: int, *, snapshot: bool) -> Frame:
    return {
        "type": "alive",
        "data": {},
        "meta": {"ts": "2031-01-01T00:00:00Z", "seq": seq, "snapshot": snapshot},
    }


def page(frames: Iterable[Frame], **meta: Any) -> httpx.Response:
    return httpx.Response(200, json={"data": list(frames), "meta": {"more": "next_cursor" in meta} | meta})


def events(*frames: Frame, end: str = "") -> httpx.Response:
    text = "retry: 1000\n\n"
    for frame in frames:
        inside = frame["meta"].get("snapshot") and frame["type"] != "alive"
        name = "" if inside else f"id: {frame['meta']['seq']}\n"
        text += f"{name}event: {frame['type']}\ndata: {httpx.Response(200, json=frame).text}\n\n"
    return httpx.Response(200, text=text + end)


class Service:
    """Gives these answers one after the other, then none any more; `asked` are the queries."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[dict[str, str]] = []
        self.done = asyncio.Event()

    async def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(dict(request.url.params))
        if not self._answers:
            self.done.set()
            await asyncio.Event().wait()
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def follow(self, book: Book, **options: Any) -> Changes:
        """A client that has had all answers."""
        async with Rest("http://service", "key", httpx.MockTransport(self.answer)) as rest:
            changes = Changes(rest, book=book, **options)

            async def iterate() -> None:
                async for _ in changes:
                    pass

            async with meanwhile(iterate()) as [task]:
                await eventually(lambda: self.done.is_set() or task.done())
                if task.done():
                    task.result()
        return changes


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matchfeed_client.changes._FIRST_PAUSE_SECONDS", 0.001)


def shown(book: Book) -> set[str]:
    return {key.specifiers for _, key, _ in book.open()}


async def test_a_book_is_stale_before_the_first_request() -> None:
    async with Rest("http://service", "key", httpx.MockTransport(Service().answer)) as rest:
        assert Changes(rest).book.stale


async def test_a_snapshot_in_parts_closes_what_no_part_contains() -> None:
    book = Book()
    service = Service(
        page([market(n, n, snapshot=True) for n in (1, 2)] + [alive(2, snapshot=True)], next_since_seq=2),
        page([market(1, 5, snapshot=True)], next_cursor="6-1"),
        httpx.ReadError("cut off"),
        page([market(3, 6, snapshot=True), alive(6, snapshot=True)], next_since_seq=6),
    )
    changes = await service.follow(book)
    assert [
        {key: asked[key] for key in ("since_seq", "cursor") if key in asked} for asked in service.asked
    ] == [{}, {"since_seq": "2"}, {"cursor": "6-1"}, {"cursor": "6-1"}, {"since_seq": "6"}]
    assert shown(book) == {"round=1", "round=3"}
    assert changes.since == 6


async def test_an_unfinished_snapshot_that_begins_again_counts_for_nothing() -> None:
    book = Book()
    service = Service(
        page([market(1, 1, snapshot=True)], next_cursor="1-1"),
        page([], next_since_seq=1, more=True),
        page([market(2, 9, snapshot=True), alive(9, snapshot=True)], next_since_seq=9),
    )
    await service.follow(book)
    assert shown(book) == {"round=2"}


async def test_a_snapshot_behind_which_more_follows_opens_nothing() -> None:
    """Its first part may be minutes old when its last one comes."""
    book, seen = Book(), list[set[str]]()
    service = Service(
        page([market(1, 1, snapshot=True)], next_cursor="1-1"),
        page([market(2, 1, snapshot=True), alive(1, snapshot=True)], next_since_seq=1, more=True),
        page([market(1, 4, "suspended"), alive(4, snapshot=False)], next_since_seq=4),
    )
    async with Rest("http://service", "key", httpx.MockTransport(service.answer)) as rest:
        async for frame in Changes(rest, book=book):
            seen.append(shown(book))
            if frame["type"] == "alive" and not frame["meta"]["snapshot"]:
                break
    assert seen == [set(), set(), set(), set(), {"round=2"}]


async def test_nothing_is_open_until_everything_missed_has_come() -> None:
    book = Book()
    begun = page([market(1, 1, snapshot=True), alive(1, snapshot=True)], next_since_seq=1)
    await Service(begun, httpx.ReadError("cut off")).follow(book)
    assert book.stale and shown(book) == set()
    following = page([market(2, 3)], next_since_seq=3, more=True)
    await Service(following).follow(book, since=1)
    assert book.stale and shown(book) == set()
    await Service(page([alive(3, snapshot=False)], next_since_seq=3)).follow(book, since=3)
    assert shown(book) == {"round=1", "round=2"}


async def test_events_resume_after_the_last_one_with_an_id() -> None:
    book = Book()
    service = Service(
        events(market(1, 4, snapshot=True)),
        events(market(1, 4, snapshot=True), alive(5, snapshot=True), market(1, 6, "settled")),
        events(market(2, 7), end='event: closed\ndata: {"code":1001,"reason":"going away"}\n\n'),
        httpx.Response(503, json={"detail": "away"}, headers={"Retry-After": "0"}),
    )
    changes = await service.follow(book, events=True)
    assert [asked.get("since_seq") for asked in service.asked] == [None, None, "6", "7", "7"]
    assert changes.since == 7
    assert book.stale


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
async def test_a_line_of_events_ends_where_the_service_ends_it(separator: str) -> None:
    """JSON may have other characters at which Python splits lines: a player's name, say."""
    named = {"type": "match.updated", "data": {"name": f"a{separator}b"}, "meta": {"seq": 4}}
    named["meta"] |= {"ts": "2031-01-01T00:00:00Z"}
    text = "".join(
        f"id: {frame['meta']['seq']}\r\ndata: {json.dumps(frame, ensure_ascii=False)}\r\n\r\n"
        for frame in (named, market(1, 5), alive(5, snapshot=False))
    )
    book = Book()
    changes = await Service(httpx.Response(200, text=text)).follow(book, events=True)
    assert changes.since == 5 and len(book.offers["m"]) == 1


@pytest.mark.parametrize("events", [False, True])
async def test_a_refusal_ends_it(events: bool) -> None:
    refused = httpx.Response(403, json={"detail": "This key is not valid."})
    with pytest.raises(ClientError, match="not valid"):
        await Service(refused).follow(Book(), events=events)
