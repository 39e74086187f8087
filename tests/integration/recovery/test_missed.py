"""A client that reads the feed up to any message and then recovers from its stamp misses nothing.

Hypothesis draws what happens on matches, how late their logs arrive, and up to where the client has read.
"""

from collections.abc import Sequence
from decimal import Decimal
from itertools import count
from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from app.amqp.envelope import Envelope, EnvelopeRenderer, MatchMessage
from app.domain.ids import match_urn
from app.domain.market import OPEN
from app.domain.match import Match, Status
from app.domain.recovery import RecoveryKind
from app.store.connections import Store
from app.wire.xml import feed
from tests.integration.channels.feed.bettor import Key, Ledger
from tests.integration.recovery.conftest import Replay
from tests.support import stored
from tests.support.story import Story, offer

START, MINUTE = 1_900_000_000_000, 60_000
MATCHES, PRODUCT, REQUEST = 3, 1, "7"
ACTS = ("offer", "settle", "void", "take_back", "finish", "cancel")
Act = tuple[str, int, int, int]  #: what, on which match and market, minutes for which its log was under way
Book = tuple[dict[Key, str], dict[Key, str], dict[str, str]]  #: offered, results, statuses


class Played:
    """Some matches of one example, and the envelopes that tell what happened on them."""

    def __init__(self, store: Store) -> None:
        ticks = count(START, MINUTE)
        self.store, self.story = store, Story(store, lambda: next(ticks))
        self.matches: list[Match] = []
        self.open: dict[int, set[int]] = {}
        self.ended: dict[int, set[int]] = {}

    async def play(self, acts: Sequence[Act]) -> list[Envelope]:
        head = await stored.head(self.store)
        for _ in range(MATCHES):
            self.matches.append(await self.story.announce(Status.LIVE))
        self.open = {match.number: set() for match in self.matches}
        self.ended = {match.number: set() for match in self.matches}
        for act in acts:
            await self.act(*act)
        return list(EnvelopeRenderer("feed", PRODUCT).envelopes(await stored.changes_after(self.store, head)))

    async def act(self, what: str, which: int, number: int, late: int) -> None:
        match = self.matches[which]
        live = (await stored.present(self.store, match)).status is Status.LIVE
        running, ended = self.open[match.number], self.ended[match.number]
        if what == "offer" and live and number not in ended:
            await self.story.offer(match, offer(number, odds=Decimal(f"1.{number}")))
            running.add(number)
        elif what in ("settle", "void") and number in running:
            await (self.story.settle if what == "settle" else self.story.void)(match, offer(number))
            running.discard(number)
            ended.add(number)
        elif what == "take_back" and number in ended:
            await self.story.take_back(match, offer(number))
            ended.discard(number)
            running.add(number)
        elif what in ("finish", "cancel") and live:
            await self._close(match, what, late)

    async def _close(self, match: Match, what: str, late: int) -> None:
        """All that is open is decided, as at every end of a match."""
        for number in sorted(self.open[match.number]):
            await self.act("settle" if what == "finish" else "void", self.matches.index(match), number, 0)
        status = Status.FINISHED if what == "finish" else Status.CANCELLED
        finished_at = max(self.story.at, START) + MINUTE - late * MINUTE
        await self.story.happen(match, status=status, finished_at=finished_at)

    async def truth(self) -> Book:
        """How all of it stands."""
        offered: dict[Key, str] = {}
        results: dict[Key, str] = {}
        statuses: dict[str, str] = {}
        for match in self.matches:
            urn = match_urn(match.number)
            statuses[urn] = str((await stored.present(self.store, match)).status.code)
            for market in (await stored.book(self.store, match)).values():
                key = (urn, str(market.type_id), market.specifiers)
                if market.result:
                    results[key] = market.result
                else:
                    offered[key] = str(market.odds) if market.status == 1 else "suspended"
        return offered, results, statuses

    async def replayed(self, replay: Replay, kind: RecoveryKind, after: int) -> list[MatchMessage]:
        """What a recovery replays of these matches; other examples leave some of theirs open."""
        messages = await replay(kind, after, now=self.story.at + MINUTE)
        return [message for message in messages if message.number in self.open]


def heard(book: Ledger) -> Book:
    return book.offered, book.results, {urn: said for urn, (_, said) in book.statuses.items()}


def closed(envelopes: Sequence[Envelope]) -> dict[str, int]:
    """The stamp of the first message that says of a match that it is over."""
    stamps: dict[str, int] = {}
    for envelope in envelopes:
        root = ET.fromstring(envelope.message.body)
        state = root.find("sport_event_status")
        if state is not None and state.get("status") in ("4", "5"):
            stamps.setdefault(root.get("event_id", ""), envelope.at)
    return stamps


acts = st.tuples(
    *(st.sampled_from(ACTS), st.integers(0, MATCHES - 1), st.integers(1, 4)),
    st.sampled_from([0, 5, 59, 61, 600]),
)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    script=st.lists(acts, max_size=25), read=st.floats(0, 1), kind=st.sampled_from(["canonical", "global"])
)
async def test_who_recovers_from_the_last_stamp_that_it_read_ends_with_the_truth(
    store: Store, replay: Replay, script: list[Act], read: float, kind: str
) -> None:
    played = Played(store)
    envelopes = await played.play(script)
    book = Ledger()
    book.after = START - 1
    for envelope in envelopes[: round(read * len(envelopes))]:
        book.receive(envelope.message.body, envelope.seq, envelope.prev_seq)
    after = book.after
    messages = await recover(book, played, replay, kind)
    assert heard(book) == await played.truth()
    await no_more_than_since(played, envelopes, messages, after)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    script=st.lists(acts, min_size=5, max_size=25),
    lost=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    notified=st.booleans(),
    kind=st.sampled_from(["canonical", "global"]),
)
async def test_who_learns_of_a_loss_and_goes_on_reading_ends_with_the_truth(
    store: Store, replay: Replay, script: list[Act], lost: tuple[float, float], notified: bool, kind: str
) -> None:
    """By a notice before what is newer, or by a gap; the recovery is requested when all is published."""
    played = Played(store)
    envelopes = await played.play(script)
    book = Ledger()
    book.after = START - 1
    first, last = sorted(round(each * len(envelopes)) for each in lost)
    for envelope in envelopes[:first]:
        book.receive(envelope.message.body, envelope.seq, envelope.prev_seq)
    if notified:
        book.receive(feed.alive(PRODUCT, START, subscribed=False))
    for envelope in envelopes[last:]:
        book.receive(envelope.message.body, envelope.seq, envelope.prev_seq)
    assume(book.due.is_set())
    await recover(book, played, replay, kind)
    assert heard(book) == await played.truth()


async def recover(book: Ledger, played: Played, replay: Replay, kind: str) -> list[MatchMessage]:
    """Replay to the book everything since its moment."""
    book.suspend()
    book.due.clear()
    book.request = REQUEST
    messages = await played.replayed(replay, RecoveryKind(kind), book.after)
    for message in messages:
        book.receive(message.body(PRODUCT, REQUEST), message.seq)
    book.receive(feed.snapshot_complete(PRODUCT, played.story.at + MINUTE, REQUEST))
    return messages


async def no_more_than_since(
    played: Played, envelopes: Sequence[Envelope], messages: Sequence[MatchMessage], after: int
) -> None:
    """What was over by `after` is replayed only if a result of it changed since, or it has an open market
    again."""
    over = {urn for urn, at in closed(envelopes).items() if at <= after}
    async with played.store.autocommit() as tx:
        rows: list[Any] = await tx.fetch(
            "SELECT m.number FROM ledger_entry e JOIN match m ON m.id = e.match_id WHERE e.at > $1", after
        )
        rows += await tx.fetch(
            "SELECT m.number FROM market o JOIN match m ON m.id = o.match_id WHERE o.status = ANY($1)",
            [int(status) for status in OPEN],
        )
    moved = {match_urn(row["number"]) for row in rows}
    assert {match_urn(message.number) for message in messages} & over <= moved


async def test_a_match_is_replayed_by_when_it_was_closed_and_not_by_its_logs_time(
    store: Store, replay: Replay
) -> None:
    played = Played(store)
    before = await played.play([("offer", 0, 1, 0), ("finish", 0, 0, 0), ("offer", 1, 1, 0)])
    after = played.story.at
    await played.act("finish", 1, 0, late=600)
    assert list(closed(before)) == [match_urn(played.matches[0].number)]
    for kind in (RecoveryKind.REST_FULL, RecoveryKind.FACADE_FULL):
        messages = await played.replayed(replay, kind, after)
        assert {message.number for message in messages} == {match.number for match in played.matches[1:]}


async def test_live_odds_are_what_changed_and_replayed_ones_the_full_list(
    store: Store, replay: Replay
) -> None:
    played = Played(store)
    envelopes = await played.play([("offer", 0, 1, 0), ("offer", 0, 2, 0), ("settle", 0, 1, 0)])
    live = [
        [market.get("specifiers") for market in ET.fromstring(each.message.body).iter("market")]
        for each in envelopes
        if each.name == "odds_change" and each.message.routing_key.endswith(f".{played.matches[0].number}.-")
    ]
    assert live == [[], [offer(1).specifiers], [offer(2).specifiers], [offer(1).specifiers]]
    (replayed, *_) = await played.replayed(replay, RecoveryKind.REST_FULL, 0)
    assert [market.specifiers for market in replayed.markets] == [offer(2).specifiers]
