"""The client's book: whatever arrives in whatever order, it is the book of the reference client."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matchfeed_client import Book, Offer, State, decode
from matchfeed_client import messages as m
from matchfeed_client.book import Key

from scripts import consumer

_KINDS = ("alive", "odds_change", "bet_", "rollback_", "fixture_change", "snapshot_complete")
#: The golden files of the feed.
FEED = [
    path
    for path in sorted((Path(__file__).parents[2] / "golden").glob("*.xml"))
    if path.name.startswith(_KINDS) and not path.name.startswith("fixture_changes")
]
MATCHES = ["od:match:1", "od:match:2"]
MARKETS = [(1, "team=home"), (1, "team=away"), (13, "map=1|round=2|team=home")]

ABOUT = '<{tag} product="2" event_id="{match}" timestamp="{at}"{request}{window}>{inner}</{tag}>'


def odds_market(market: tuple[int, str], status: str) -> str:
    odds = '<outcome id="1" odds="1.85" active="1"/>' if status in "1-1" else ""
    return f'<market id="{market[0]}" specifiers="{market[1]}" status="{status}">{odds}</market>'


def bare(market: tuple[int, str], tag: str) -> str:
    reason = ' void_reason_id="1"' if tag == "bet_cancel" else ""
    return f'<market id="{market[0]}" specifiers="{market[1]}"{reason}/>'


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """A message of the feed: live, of recovery 7 or of another one."""
    tag = draw(
        st.sampled_from(
            ["odds_change", "bet_settlement", "bet_cancel", "rollback_bet_settlement", "rollback_bet_cancel"]
            + ["bet_stop", "fixture_change", "alive", "snapshot_complete"]
        )
    )
    at = draw(st.integers(1, 12))
    if tag == "alive":
        return f'<alive product="2" timestamp="{at}" subscribed="{draw(st.integers(0, 1))}"/>'
    if tag == "snapshot_complete":
        return (
            f'<snapshot_complete product="2" timestamp="{at}" request_id="{draw(st.sampled_from("789"))}"/>'
        )
    wanted = draw(st.lists(st.sampled_from(MARKETS), min_size=1, max_size=3, unique=True))
    if tag == "odds_change":
        statuses = [draw(st.sampled_from(["1", "-1", "0", "-3", "-4"])) for _ in wanted]
        inner = f"<odds>{''.join(map(odds_market, wanted, statuses))}</odds>"
    elif tag == "bet_settlement":
        inner = "".join(
            f'<market id="{one}" specifiers="{text}"><outcome id="1" result="1"/></market>'
            for one, text in wanted
        )
        inner = f"<outcomes>{inner}</outcomes>"
    elif tag in ("fixture_change", "bet_stop"):
        inner = ""
    else:
        inner = "".join(bare(each, tag) for each in wanted)
    window = ' start_time="1" end_time="5"' if "cancel" in tag and draw(st.booleans()) else ""
    if tag == "fixture_change":
        window = ' change_type="1"'
    if tag == "bet_stop":
        window = ' groups="all" market_status="-1"'
    requests = [""] if tag == "bet_stop" else ["", "", ' request_id="7"', ' request_id="8"']
    request = draw(st.sampled_from(requests))
    return ABOUT.format(
        tag=tag, match=draw(st.sampled_from(MATCHES)), at=at, request=request, window=window, inner=inner
    )


def price(offer: Offer) -> str:
    return str(offer.odds) if offer.odds else consumer.SUSPENDED if offer.state is State.SUSPENDED else ""


def shown(book: Book) -> dict[str, Any]:
    """The book in the reference client's form."""
    return {
        match: {
            (str(key.market), key.specifiers): (offer.timestamp, price(offer))
            for key, offer in offers.items()
        }
        for match, offers in book.offers.items()
        if offers
    }


def kept(book: consumer.Book) -> dict[str, Any]:
    return {match: dict(offers) for match, offers in book.offers.items() if offers}


@given(
    st.lists(
        st.one_of(
            st.tuples(bodies(), st.integers(0, 9), st.integers(0, 9)), st.sampled_from(["suspend", "recover"])
        ),
        max_size=30,
    )
)
def test_it_is_the_book_of_the_reference_client(steps: list[Any]) -> None:
    ours, reference = Book(), consumer.Book()
    reference.suspend()
    for step in steps:
        if step == "suspend":
            ours.suspend()
            reference.suspend()
        elif step == "recover":
            ours.begin_recovery("7")
            reference.request, reference.replayed = "7", set()
            reference.due.clear()
        else:
            text, seq, previous = step
            message = decode(text.encode())
            assert message is not None
            ours.receive(message, seq, previous)
            reference.receive(text.encode(), seq, previous)
        assert shown(ours) == kept(reference)
        assert (ours.after, ours.recovery) == (reference.after, reference.request)
        mine, theirs = ours.digest()["matches"], reference.digest()["matches"]
        assert sorted(mine, key=str) == sorted(theirs, key=str)
    again = Book.from_json(ours.to_json())
    assert [key for _, key, _ in again.open()] == [] and again.due and again.after == ours.after


def complete(book: Book, at: int) -> Book:
    """The book after a recovery that replayed nothing."""
    book.begin_recovery("7")
    message = decode(f'<snapshot_complete product="2" timestamp="{at}" request_id="7"/>'.encode())
    assert message
    book.receive(message)
    return book


def test_a_stored_book_is_suspended_until_it_has_recovered() -> None:
    book = complete(Book(), 5)
    odds = f"<odds>{odds_market(MARKETS[0], '1')}</odds>"
    body = f'<odds_change product="2" event_id="od:match:1" timestamp="6">{odds}</odds_change>'
    message = decode(body.encode())
    assert message
    book.receive(message, 3, 0)
    assert list(book.open()) == [("od:match:1", Key(*MARKETS[0]), (6, State.OPEN, Decimal("1.85")))]
    again = Book.from_json(book.to_json())
    assert again.after == 6 and not list(again.open())
    assert again.offers == {"od:match:1": {Key(*MARKETS[0]): (6, State.SUSPENDED, None)}}


def received(book: Book, at: int, *, request: str = "", previous: int = 0) -> None:
    """An `odds_change` of the first market, whose number is its timestamp."""
    about = f'timestamp="{at}"' + (f' request_id="{request}"' if request else "")
    odds = f"<odds>{odds_market(MARKETS[0], '1')}</odds>"
    message = decode(f'<odds_change product="2" event_id="od:match:1" {about}>{odds}</odds_change>'.encode())
    assert message
    book.receive(message, at, previous)


def test_a_match_of_which_a_message_waits_is_not_open_until_the_recovery_ends() -> None:
    """Its prices are not the newest any more. Those that the message is not about come back with the end."""
    book = complete(Book(), 5)
    received(book, 6)
    book.begin_recovery("7")
    received(book, 8, request="7")
    assert list(book.open())
    settled = m.SettledMarket(id=1, specifiers="of=another", outcome=())
    live = m.BetSettlement(
        product=2, event_id="od:match:1", timestamp=9, outcomes=m.SettlementList(market=(settled,))
    )
    assert book.receive(live, 9, 8) == [] and not list(book.open())
    end = m.SnapshotComplete(product=2, timestamp=10, request_id="7")
    assert book.receive(end) == [end, live]
    assert [(match, key) for match, key, _ in book.open()] == [("od:match:1", Key(*MARKETS[0]))]


def test_while_another_recovery_is_due_a_replay_opens_nothing() -> None:
    """What was missed since may be newer than what is replayed."""
    book = complete(Book(), 5)
    book.begin_recovery("7")
    book.receive(m.Alive(product=2, timestamp=7, subscribed="0"))
    received(book, 8, request="7")
    assert book.due and not list(book.open())
    book.receive(m.SnapshotComplete(product=2, timestamp=9, request_id="7"))
    assert not list(book.open()) and book.after == 5
    book.begin_recovery("8")
    received(book, 10, request="8")
    assert list(book.open())


def test_what_is_replayed_after_a_live_message_waits_is_open_with_the_recoverys_end_alone() -> None:
    book = complete(Book(), 5)
    book.begin_recovery("7")
    received(book, 9, previous=0)
    received(book, 8, request="7")
    assert not list(book.open())
    book.receive(m.SnapshotComplete(product=2, timestamp=10, request_id="7"))
    assert [offer.timestamp for _, _, offer in book.open()] == [9]


def test_after_a_gap_nothing_of_the_match_is_open_until_it_is_recovered() -> None:
    """Not even what the message lists that shows the gap: newer ones wait for the recovery."""
    book = complete(Book(), 5)
    received(book, 6)
    received(book, 9, previous=8)
    assert book.due and not list(book.open())
    received(book, 10, previous=9)
    assert not list(book.open())


@pytest.mark.parametrize("path", FEED, ids=lambda path: path.stem)
def test_every_message_of_the_feed_is_read(path: Path) -> None:
    body = path.read_bytes()
    message = decode(body)
    assert message is not None
    kind = body.partition(b"<")[2].partition(b" ")[0].decode()
    assert type(message).__name__.lower() == kind.replace("_", "")


def test_what_a_later_version_adds_is_passed_over() -> None:
    read = decode(b'<alive product="2" timestamp="4" subscribed="1" mood="fine"><more/></alive>')
    assert read == m.Alive(product=2, timestamp=4, subscribed="1")
    assert decode(b"<something_new/>") is None


@pytest.mark.parametrize("body", [b"", b"text", b"<alive", b"<odds_change/>", b'<alive product="x"/>'])
def test_what_cannot_be_read_says_so(body: bytes) -> None:
    with pytest.raises(ValueError, match="."):
        decode(body)


@pytest.mark.parametrize(("received", "after"), [(None, 90_000), (95_000, 90_000), (60_000, 60_000)])
def test_a_fast_clock_of_the_service_does_not_make_it_skip_anything(received: int | None, after: int) -> None:
    """What is published between its reception and the timestamp would be missing in the next recovery."""
    for body in (
        '<odds_change product="2" event_id="od:match:1" timestamp="90000"><odds/></odds_change>',
        '<snapshot_complete product="2" timestamp="90000" request_id="7"/>',
    ):
        book = complete(Book(), 1)
        if body.startswith("<snapshot"):
            book.begin_recovery("7")
        message = decode(body.encode())
        assert message is not None
        book.receive(message, received=received)
        assert book.after == after


matches = st.sampled_from([*MATCHES, "od:match:3"])


@given(st.lists(matches), st.lists(matches, min_size=1), st.lists(matches), st.booleans())
def test_what_is_missing_is_newer_than_the_moment_up_to_which_nothing_is(
    received: list[str], lost: list[str], later: list[str], notified: bool
) -> None:
    """Once a gap or a notice has shown that messages were lost, whatever came after them: until the recovery
    is requested, the book knows a moment before the first of them."""
    ours, reference = complete(Book(), 1), consumer.Book()
    newest = dict.fromkeys([*MATCHES, "od:match:3"], 0)
    played = [*newest, *received, *lost, *later]
    begin = len(newest) + len(received)
    for seq, match in enumerate(played, start=1):
        body = ABOUT.format(
            tag="odds_change",
            match=match,
            at=1_800_000_000_000 + 60_000 * seq,
            request="",
            window="",
            inner=f"<odds>{odds_market(MARKETS[0], '1')}</odds>",
        )
        previous, newest[match] = newest[match], seq
        if begin < seq <= begin + len(lost):
            continue
        if notified and seq == begin + len(lost) + 1:
            receive_both(ours, reference, '<alive product="2" timestamp="1" subscribed="0"/>')
        receive_both(ours, reference, body, seq, previous)
        shows = notified or match in lost
        if seq > begin and shows:
            assert ours.due and reference.due.is_set()
        if ours.due:
            first_lost = 1_800_000_000_000 + 60_000 * (begin + 1)
            assert ours.after == reference.after < first_lost


def receive_both(ours: Book, reference: consumer.Book, body: str, seq: int = 0, previous: int = 0) -> None:
    message = decode(body.encode())
    assert message
    ours.receive(message, seq, previous)
    reference.receive(body.encode(), seq, previous)
