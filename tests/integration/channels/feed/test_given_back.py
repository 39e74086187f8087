"""A match that one of two tenants gives back, and books again: what each receives over AMQP."""

from contextlib import AsyncExitStack
from functools import partial

import pytest

from app.amqp import relay
from app.amqp.relay import Relay
from app.domain.ids import match_urn
from app.domain.match import Match
from app.domain.recovery import RecoveryKind
from app.kit.clock import system_clock
from scripts.consumer import CLOSED, SUSPENDED, Book
from tests.faults.rig import Consumer, Got, Rig, until
from tests.integration.channels.feed.conftest import Running
from tests.integration.channels.feed.test_types_off import (
    OTHER,
    ROUND_WINNER,
    Audience,
    audience,
    check_chain,
    of_type,
    read,
)
from tests.support import tenants
from tests.support.story import offer

SHORT_LEASE = "1500"


async def book(both: Audience, match: Match, booked: bool) -> None:
    """For the first tenant."""
    assert await tenants.book(both.rig.store, match, booked, both.tenants[0].slug)


def of_match(consumer: Consumer, match: Match) -> list[Got]:
    suffix = f".od:match.{match.number}.-"
    return [got for got in consumer.live if got.key.endswith(suffix)]


def offers(messages: list[Got]) -> list[tuple[str, str, str | None]]:
    return of_type([read(got) for got in messages], ROUND_WINNER)


def folded(*consumers: Consumer) -> list[Book]:
    """The reference client's book of each, of all that came."""
    books = [Book() for _ in consumers]
    for one, consumer in zip(books, consumers, strict=True):
        for got in consumer.got:
            one.receive(got.body, got.seq or 0, got.prev or 0)
    return books


def prices(book: Book, match: Match) -> dict[str, str]:
    """What the book has of a match's winners of rounds, by round."""
    found = book.offers[match_urn(match.number)]
    return {
        next(part[6:] for part in specifiers.split("|") if part.startswith("round=")): price
        for (kind, specifiers), (_, price) in found.items()
        if int(kind) == ROUND_WINNER
    }


async def published(consumer: Consumer, match: Match, number: int) -> None:
    """Wait until the odds of this round have come."""
    odds = "odds_change", str(number), "1"
    await until("the odds", lambda: odds in offers(of_match(consumer, match)))


async def ended(both: Audience, match: Match, *, chained: bool = True) -> None:
    """Wait until both have what comes last: the end of this match. A process that was killed has repeated
    some, so that they are no chain."""
    await both.story.finish(match)
    for consumer in both.consumers:
        await until("the end", partial(over, consumer, match))
        if chained:
            check_chain(consumer.live)


def over(consumer: Consumer, match: Match) -> bool:
    return any(b'status="4"' in got.body for got in of_match(consumer, match))


LAST = [
    ("odds_change", "1", "1"),
    ("odds_change", "2", "1"),
    ("odds_change", "3", "1"),
    ("odds_change", "3", "-1"),
    # given back: what was active is suspended, once, and nothing follows
    ("odds_change", "1", "-1"),
    ("odds_change", "2", "-1"),
]


@pytest.mark.parametrize("when", ["live", "from memory", "from the log"])
async def test_one_last_message(rig: Rig, feed: Running, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its place, wherever the feed is then: all before it was published, and nothing after it."""
    if when == "from the log":
        monkeypatch.setattr(relay, "_READ_BACK", 0)
    async with audience(rig) as both, AsyncExitStack() as running:
        if when == "live":
            await running.enter_async_context(feed())
        story, match, mark = both.story, await both.story.match(), await both.story.match()
        await story.offer(match, offer(1), offer(2), offer(3))
        await story.offer(match, offer(3, status=-1))
        await book(both, match, False)
        await story.offer(match, offer(1, odds=offer(1).odds + 1), offer(3), offer(4))
        await story.settle(match, offer(2))
        if when != "live":
            await running.enter_async_context(feed())
        await ended(both, mark)
        mine, other = (of_match(consumer, match) for consumer in both.consumers)
        given_back, untouched = folded(*both.consumers)
    assert offers(mine) == LAST
    assert ("odds_change", "2", "-1") not in offers(other) and len(other) > len(mine)
    assert {got.seq for got in mine} - {got.seq for got in other} == {mine[-1].seq}
    assert prices(given_back, match) == {"1": SUSPENDED, "2": SUSPENDED, "3": SUSPENDED}
    assert prices(untouched, match) == {"1": "2.85", "2": CLOSED, "3": "1.85", "4": "1.85"}


async def test_nothing_was_active(rig: Rig, feed: Running) -> None:
    """No message; and what opens a moment later is not published either."""
    async with audience(rig) as both, feed():
        story, match, mark = both.story, await both.story.match(), await both.story.match()
        await story.offer(match, offer(1, status=-1))
        await book(both, match, False)
        await story.offer(match, offer(1), offer(2))
        await ended(both, mark)
        mine, other = (of_match(consumer, match) for consumer in both.consumers)
    assert offers(mine) == [("odds_change", "1", "-1")] and len(other) == 2


async def test_booked_again_at_once(rig: Rig, feed: Running) -> None:
    """Nothing was missed, so the chain is whole, and what was suspended is on offer again."""
    async with audience(rig) as both, feed():
        story, match, mark = both.story, await both.story.match(), await both.story.match()
        await story.offer(match, offer(1), offer(2, status=-1))
        await book(both, match, False)
        await book(both, match, True)
        await story.offer(match, offer(3))
        await ended(both, mark)
        mine, other = (of_match(consumer, match) for consumer in both.consumers)
        books = folded(*both.consumers)
    assert offers(mine)[2:-1] == [
        ("odds_change", "1", "-1"),
        ("odds_change", "1", "1"),
        ("odds_change", "2", "-1"),
    ]
    assert offers(mine)[-1] == offers(other)[-1]
    assert prices(books[0], match) == prices(books[1], match) == {"1": "1.85", "2": SUSPENDED, "3": "1.85"}
    assert not books[0].due.is_set()


async def test_booked_again_after_changes(rig: Rig, feed: Running) -> None:
    """The first message has what is open, and shows that something was missed."""
    async with audience(rig) as both, feed():
        story, match, mark = both.story, await both.story.match(), await both.story.match()
        await story.offer(match, offer(1), offer(2))
        await book(both, match, False)
        await story.settle(match, offer(1))
        await until("the other has it", lambda: len(of_match(both.consumers[1], match)) == 3)
        await book(both, match, True)
        await story.finish(mark)
        await until("the first message", lambda: len(of_match(both.consumers[0], match)) == 3)
        _, last, first = of_match(both.consumers[0], match)
        (book_then,) = folded(both.consumers[0])
        assert offers([first]) == [("odds_change", "2", "1")]
        assert first.prev is not None and last.seq is not None and first.prev > last.seq
        assert book_then.due.is_set(), "the reference client recovers"
        await both.recover(RecoveryKind.REST_FULL, "7", system_clock() - 60_000)
        (book_now,) = folded(both.consumers[0])
        book_now.request, book_now.replayed = "7", set()
        book_now.due.clear()
        for got in both.consumers[0].replayed:
            book_now.receive(got.body, got.seq or 0)
    assert prices(book_now, match) == {"1": CLOSED, "2": "1.85"}


async def test_no_recovery_brings_it_back(rig: Rig, feed: Running) -> None:
    """A recovery replays nothing of the match, and closes it at a client that follows the rules."""
    async with audience(rig) as both, feed():
        story, match = both.story, await both.story.match()
        await story.offer(match, offer(1), offer(9, type_id=OTHER))
        await book(both, match, False)
        await story.offer(match, offer(1), offer(2))
        await until("the last message", lambda: len(of_match(both.consumers[0], match)) == 2)
        (before,) = folded(both.consumers[0])
        mine, other = await both.recover(RecoveryKind.FACADE_FULL, "1", system_clock() - 60_000)
        before.request, before.replayed = "1", set()
        for got in both.consumers[0].replayed:
            before.receive(got.body, got.seq or 0)
    assert mine == [] and of_type(other, ROUND_WINNER) != []
    assert prices(before, match) == {"1": CLOSED}


async def test_the_feed_process_is_killed(rig: Rig) -> None:
    """It was given back while the process was stopped, which is then killed: the next one publishes it."""
    async with audience(rig) as both:
        story, match, mark = both.story, await both.story.match(), await both.story.match()
        process = await rig.feed(FEED_LEASE_MILLIS=SHORT_LEASE)
        await until("alive", lambda: all(one.alives for one in both.consumers))
        await story.offer(match, offer(1), offer(2))
        await until("the odds", lambda: all(of_match(one, match) for one in both.consumers))
        await rig.pause(process)
        await book(both, match, False)
        await story.offer(match, offer(1), offer(3))
        await process.kill()
        await rig.feed(FEED_LEASE_MILLIS=SHORT_LEASE)
        await ended(both, mark, chained=False)
        mine = of_match(both.consumers[0], match)
        first = list({got.seq: got for got in mine}.values())
        both.consumers[0].check_identity()
        both.consumers[0].check_order()
    assert offers(first)[2:] == [("odds_change", "1", "-1"), ("odds_change", "2", "-1")]
    assert len(mine) - len(first) <= rig.settings.feed_window


async def test_what_one_process_left_out_the_next_leaves_out(
    rig: Rig, feed: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unbooked, changed, booked again. A process that begins before all of that, because none of it was
    checkpointed, publishes the same again: what was left out would come after newer messages."""

    async def nothing(_: Relay) -> None: ...

    async with audience(rig) as both:
        story, match, mark = both.story, await both.story.match(), await both.story.match()
        with monkeypatch.context() as ended_early:
            ended_early.setattr(Relay, "checkpoint", nothing)
            async with feed():
                await story.offer(match, offer(1))
                await book(both, match, False)
                await story.offer(match, offer(1), offer(2))
                await published(both.consumers[1], match, 2)
                await book(both, match, True)
                await published(both.consumers[0], match, 2)
        before = list(both.consumers[0].live)
        async with feed():
            await story.finish(mark)
            await until("the end", lambda: of_match(both.consumers[0], mark))
        consumer = both.consumers[0]
        consumer.check_identity()
        consumer.check_order()
    assert [got.seq for got in of_match(consumer, match)] == [got.seq for got in before] * 2


async def test_killed_while_bookings_change(rig: Rig) -> None:
    """Killed with messages on their way, while the match is given back and booked again all the time: the
    last of it is always what the tenant has."""
    async with audience(rig) as both:
        story, match, mark = both.story, await both.story.match(), await both.story.match()
        process = await rig.feed(FEED_LEASE_MILLIS=SHORT_LEASE)
        await until("alive", lambda: all(one.alives for one in both.consumers))
        for number in range(1, 7):
            await story.offer(match, offer(number))
            await book(both, match, number % 2 == 0)
            await story.offer(match, offer(number, odds=offer(1).odds + number))
            if number % 3 == 0:
                await process.kill()
                process = await rig.feed(FEED_LEASE_MILLIS=SHORT_LEASE)
            await published(both.consumers[1], match, number)
        await book(both, match, False)
        await story.offer(match, offer(9))
        await ended(both, mark, chained=False)
        (mine,) = folded(both.consumers[0])
        both.consumers[0].check_identity()
        both.consumers[0].check_order()
    assert set(prices(mine, match).values()) == {SUSPENDED}
    assert "9" not in prices(mine, match)
