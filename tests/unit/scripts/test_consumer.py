"""The reference client as a program: where it begins, and how it asks again."""

import asyncio
import time

import pytest

from scripts import consumer


class Enough(BaseException):
    """What ends a program that runs for ever."""


async def begun(book: consumer.Book, monkeypatch: pytest.MonkeyPatch) -> int:
    """Up to which moment nothing is missing, when the program with this book first listens."""

    async def consume(
        _url: str, _exchange: str, book: consumer.Book, _request: consumer.RecoveryRequest
    ) -> None:
        raise Enough(book.after)

    monkeypatch.setattr(consumer, "consume", consume)
    with pytest.raises(Enough) as end:
        await consumer.main("amqp://nobody@127.0.0.1/none", book=book)
    return int(str(end.value))


async def test_it_begins_at_its_own_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 0 no results would be replayed: never those of matches that end before the snapshot."""
    before = time.time_ns() // 1_000_000
    assert before <= await begun(consumer.Book(), monkeypatch) <= time.time_ns() // 1_000_000


async def test_a_saved_book_continues_where_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    book = consumer.Book()
    book.after = 1_800_000_000_000
    assert await begun(book, monkeypatch) == 1_800_000_000_000


async def test_it_asks_until_the_snapshot_is_complete() -> None:
    """Refused, too late, in flight elsewhere: each asks again with a number of its own, then waits."""
    book, requested, answers = consumer.Book(), list[tuple[int, str]](), [(503, 0.0), (409, 0.0), (422, 0.0)]
    book.after, waits = 1_800_000_000_000, asyncio.Event()

    async def ask(after: int, request: str) -> tuple[int, float]:
        requested.append((after, request))
        if answers:
            return answers.pop(0)
        waits.set()
        return 202, 0.0

    task = asyncio.create_task(consumer.recover(book, ask))
    book.due.set()
    async with asyncio.timeout(60):
        await waits.wait()
    overlap = 1_800_000_000_000 - consumer.OVERLAP_MILLIS
    assert [after for after, _ in requested] == [overlap, overlap, overlap, 0]
    assert len({request for _, request in requested}) == 4
    book.receive(b'<snapshot_complete request_id="%s" timestamp="7"/>' % b"1")  # of another node
    assert book.request == requested[-1][1]
    book.receive(b'<snapshot_complete request_id="%s" timestamp="7"/>' % requested[-1][1].encode())
    assert (book.request, book.after) == ("", 7)
    await asyncio.sleep(0)
    assert len(requested) == 4
    task.cancel()
    await asyncio.wait([task])


def test_void_bets_of_a_window_end_no_offer() -> None:
    book = consumer.Book()
    book.receive(
        b'<odds_change event_id="od:match:7" timestamp="5"><odds><market id="1" specifiers="team=home" '
        b'status="1"><outcome id="1" odds="1.85" active="1"/></market></odds></odds_change>',
        3,
        0,
    )
    for tag in (b"bet_cancel", b"rollback_bet_cancel"):
        book.receive(
            b'<%b event_id="od:match:7" timestamp="6" start_time="2" end_time="4"><market id="1" '
            b'specifiers="team=home" void_reason_id="4"/></%b>' % (tag, tag),
            4,
            3,
        )
    assert book.offers["od:match:7"] == {("1", "team=home"): (5, "1.85")}
    assert (book.seqs["od:match:7"], book.after) == (4, 6)
    book.receive(
        b'<bet_cancel event_id="od:match:7" timestamp="7"><market id="1" specifiers="team=home" '
        b'void_reason_id="4"/></bet_cancel>',
        5,
        4,
    )
    assert book.offers["od:match:7"] == {("1", "team=home"): (7, consumer.CLOSED)}


def test_what_is_missing_of_a_match_without_markets_may_be_older_than_what_came_of_others() -> None:
    """Messages 4 and 5 are lost, the settlement of another match among them; 7 shows it, after 6."""
    book, begin = consumer.Book(), 1_800_000_000_000
    book.after = begin
    status = b'<odds_change event_id="od:match:%d" timestamp="%d"><odds/></odds_change>'
    book.receive(status % (8, begin + 100_000), 2, 0)
    book.receive(status % (9, begin + 100_001), 3, 0)
    settled_at = begin + 200_000
    book.receive(status % (8, begin + 500_000), 6, 2)
    book.receive(status % (9, begin + 500_001), 7, 5)
    assert book.due.is_set()
    assert book.after < settled_at
