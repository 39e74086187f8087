"""The reference client, cut off again and again, ends with the open markets that the store has."""

import random
from collections.abc import Awaitable, Callable
from functools import partial

import pytest
from lxml import etree

from app.amqp.envelope import MatchMessage
from app.domain.ids import match_urn
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Status
from app.domain.tenant import Tenant
from app.kit.errors import Conflict
from app.store import markets
from app.store.connections import Store
from app.wire.xml import feed
from scripts import consumer
from scripts.consumer import SUSPENDED, Book
from tests.faults.rig import Rig
from tests.support.eventually import eventually
from tests.support.life import Life
from tests.support.meanwhile import meanwhile
from tests.support.recoveries import recover
from tests.support.story import Story, offer

Open = dict[str, dict[tuple[str, str], str]]


def shown(book: Book) -> Open:
    """What the client would offer or show as suspended."""
    found: Open = {}
    for match, offers in book.offers.items():
        if published := {key: state for key, (_, state) in offers.items() if state}:
            found[match] = published
    return found


async def truth(store: Store, published: list[Match]) -> Open:
    found: Open = {}
    async with store.autocommit() as tx:
        for match in published:
            active = await markets.open_of_match(tx, match.id)
            if active:
                found[match_urn(match.number)] = {
                    (str(each.type_id), each.specifiers): _state(each) for each in active
                }
    return found


def _state(market: Market) -> str:
    return str(market.odds) if market.status is MarketStatus.ACTIVE else SUSPENDED


def requesting(store: Store, tenant: Tenant) -> Callable[[int, str], Awaitable[tuple[int, float]]]:
    async def request_recovery(after: int, request_id: str) -> tuple[int, float]:
        try:
            await recover(store, tenant, request_id, after=after)
        except Conflict as error:
            return error.status, 0.2  # its detail names the latest moment
        return 202, 0

    return request_recovery


@pytest.mark.parametrize("seed", [1, 2])
async def test_cut_off_at_random(rig: Rig, store: Store, seed: int) -> None:
    tenant, url = await rig.tenant()
    life, book = Life(Story(store), seed), Book()
    consuming = partial(consumer.consume, url, rig.settings.exchange, book, requesting(store, tenant))
    await rig.feed()
    for _ in range(4):
        async with meanwhile(consuming()):
            await life.step(life.random.randrange(20, 60))
        await life.step(life.random.randrange(10, 30))
    async with meanwhile(consuming()) as [client]:
        await life.step(20)
        expected = await truth(store, life.matches)
        await eventually(
            lambda: {} if book.request or client.done() else shown(book), lambda found: found == expected
        )


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_arrival_does_not_matter(seed: int) -> None:
    """A replay and what is published live meanwhile, mixed and repeated, end in one book."""
    chance = random.Random(seed)
    messages = [
        _odds(at=100, request_id="", published=[offer(1), offer(2)]),
        _odds(at=200, request_id="", published=[offer(3)]),
        _odds(at=300, request_id="9", published=[offer(2), offer(3)]),
        _odds(at=400, request_id="", published=[offer(2, status=MarketStatus.SUSPENDED), offer(4)]),
    ]
    order = messages * 2
    chance.shuffle(order)
    book = Book()
    for body in order:
        book.apply(consumer.ET.fromstring(body), 0, 0)
    assert shown(book) == {
        "od:match:7": {
            ("13", offer(2).specifiers): SUSPENDED,
            ("13", offer(3).specifiers): "1.85",
            ("13", offer(4).specifiers): "1.85",
        }
    }


def _odds(at: int, request_id: str, published: list[Market]) -> bytes:
    body = MatchMessage("odds_change", 7, at, 0, markets=published).body(2, request_id or "1")
    root = etree.fromstring(body)
    if not request_id:
        del root.attrib["request_id"]
    return bytes(etree.tostring(root))


def test_a_client_keeps_live_messages_until_its_recovery_is_complete() -> None:
    book = Book()
    book.request = "9"
    book.receive(_odds(at=400, request_id="", published=[offer(5)]), 4, 0)
    book.receive(_odds(at=500, request_id="8", published=[offer(6)]), 5)
    assert shown(book) == {}
    book.receive(_odds(at=300, request_id="9", published=[offer(1)]), 3)
    assert set(shown(book)["od:match:7"]) == {("13", offer(1).specifiers)}
    book.receive(feed.snapshot_complete(2, 450, "8"))
    assert book.request == "9"
    assert book.after == 0, "cut short now, all of it is still to be requested"
    book.receive(feed.snapshot_complete(2, 450, "9"))
    assert not book.request
    assert book.after == 450
    assert set(shown(book)["od:match:7"]) == {("13", offer(1).specifiers), ("13", offer(5).specifiers)}


def test_a_match_that_a_recovery_does_not_replay_is_over() -> None:
    book = Book()
    book.receive(_odds(at=100, request_id="", published=[offer(1)]), 1)
    book.suspend()
    book.request, book.replayed = "9", set()
    book.receive(feed.snapshot_complete(2, 450, "8"))
    assert set(shown(book)) == {"od:match:7"}, "another's recovery has nothing of ours"
    book.receive(feed.snapshot_complete(2, 450, "9"))
    assert not shown(book)


async def test_upcoming_matches_are_published_too(rig: Rig, store: Store) -> None:
    tenant, url = await rig.tenant()
    story, book = Story(store), Book()
    match = await story.match(offer(1), status=Status.UPCOMING)
    await rig.feed()
    expected = await truth(store, [match])
    async with meanwhile(consumer.consume(url, rig.settings.exchange, book, requesting(store, tenant))):
        await eventually(lambda: shown(book), lambda found: found == expected)
