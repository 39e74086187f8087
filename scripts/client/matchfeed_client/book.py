"""What is on offer, folded from messages: the rules of the feed in one place, without any connection.

A message older than the last one about a market changes nothing. A recovery's `odds_change` is all of its
match. While a recovery runs, live messages wait, and a match of which one waits is suspended: what is on
offer of it is not the newest any more. While a recovery is due, nothing is opened, by a replay neither.
Matches that a recovery does not replay are over, or not ours any more.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from matchfeed_client import messages as m
from matchfeed_client.decoding import Message

_MatchMessage = (
    m.OddsChange
    | m.BetStop
    | m.BetSettlement
    | m.BetCancel
    | m.RollbackBetSettlement
    | m.RollbackBetCancel
    | m.FixtureChange
)
_Rollback = m.RollbackBetSettlement | m.RollbackBetCancel
_DAY_MILLIS = 86_400_000


class State(StrEnum):
    """What may be done with a market."""

    OPEN = "open"
    SUSPENDED = "suspended"
    CLOSED = "closed"


#: The states in which a market is on offer, by its status in frames.
_STATES = {"active": State.OPEN, "suspended": State.SUSPENDED}


class Key(NamedTuple):
    """A market within its match: an id of the catalogue, and the specifiers as they were published."""

    market: int
    specifiers: str


class Offer(NamedTuple):
    """The newest state of a market: `timestamp` in Unix milliseconds; odds only while it is open."""

    timestamp: int
    state: State
    odds: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A live message that came during a recovery."""

    message: _MatchMessage
    seq: int
    previous: int


class Book:
    """`offers` by match and market. `after`: up to this moment (Unix milliseconds) nothing is missing. While
    a recovery is due it does not move: what is missing is older than the message that shows it.

    `recovery` is the number of the recovery that runs, "" when none does; `due` says that one must be
    requested. The book is complete while both are false.

    A book is fed either from a queue (`receive`) or from changes over HTTP (`fold`). The latter name a match
    by its UUID; while they are `stale`, nothing is open.
    """

    def __init__(self, after: int = 0) -> None:
        self.offers: dict[str, dict[Key, Offer]] = {}
        self.after = after
        self.recovery = ""
        self.due = True
        self.stale = False
        self._mentioned: set[tuple[str, Key]] = set()
        self._published: dict[str, int] = {}  # when a match was last published in full
        self._seqs: dict[str, int] = {}
        self._replayed: set[str] = set()
        self._waiting: list[Waiting] = []
        self._halted: dict[str, dict[Key, Offer]] = {}  # open ones of matches of which a message waits

    def open(self) -> Iterator[tuple[str, Key, Offer]]:
        """What may be offered now."""
        for match, offers in {} if self.stale else self.offers.items():
            for key, offer in offers.items():
                if offer.state is State.OPEN:
                    yield match, key, offer

    def suspend(self, *matches: str) -> None:
        """Something was missed: suspend these matches (all, if none is named) until they are published
        again; a recovery is due."""
        for match in matches or tuple(self.offers):
            self._halt(match)
            if match in self._halted:
                self._halted[match] = {}
        self.due = True

    def _halt(self, match: str) -> dict[Key, Offer]:
        """Suspend what is open of the match; returns it."""
        offers = self.offers.get(match, {})
        opened = {key: offer for key, offer in offers.items() if offer.state is State.OPEN}
        offers |= {key: Offer(offer.timestamp, State.SUSPENDED) for key, offer in opened.items()}
        return opened

    def fold(self, frame: Mapping[str, Any]) -> None:
        """Fold in a frame of the stream, as changes over HTTP have it. The `alive` that ends a snapshot
        closes what the snapshot did not contain."""
        kind, data, meta = frame["type"], frame["data"], frame["meta"]
        at = round(datetime.fromisoformat(meta["ts"]).timestamp() * 1000)
        if kind == "alive":
            if meta.get("snapshot"):
                self._close_others(at)
            self.after = max(self.after, at)
        elif kind.startswith("market."):
            match, key = data["match_id"], Key(data["id"], data["specifiers"])
            state = _STATES.get(data["status"], State.CLOSED)
            odds = Decimal(str(data["odds"])) if state is State.OPEN else None
            self.offers.setdefault(match, {})[key] = Offer(at, state, odds)
            self._seqs[match] = max(self._seqs.get(match, 0), meta["seq"])
            if meta.get("snapshot"):
                self._mentioned.add((match, key))

    def begin_snapshot(self) -> None:
        """What `fold` receives next may be the beginning of a snapshot, not the rest of one."""
        self._mentioned = set()

    def _close_others(self, at: int) -> None:
        """Close what the snapshot that has just ended did not contain."""
        for match, offers in self.offers.items():
            for key in offers:
                if (match, key) not in self._mentioned:
                    offers[key] = Offer(at, State.CLOSED)

    def begin_recovery(self, number: str) -> None:
        """A recovery with this number is about to be requested."""
        self.recovery, self.due, self._replayed = number, False, set()

    def receive(
        self, message: Message, seq: int = 0, previous: int = 0, *, received: int | None = None
    ) -> list[Message]:
        """Fold a message in; `seq` and `previous` are its headers `x-seq` and `x-prev-seq`, `received` is
        when it came (Unix milliseconds).

        Returns what has been applied: the message; nothing while it waits for the recovery or belongs to
        another one; at a recovery's end all that waited.
        """
        applied = self._receive(message, seq, previous)
        if received is not None:  # the clock of a server may be fast
            self.after = min(self.after, received)
        return applied

    def _receive(self, message: Message, seq: int, previous: int) -> list[Message]:
        if isinstance(message, m.Alive):
            if message.subscribed != "1":
                self.suspend()
            return [message]
        if isinstance(message, m.SnapshotComplete):
            return self._complete(message) if message.request_id == self.recovery else []
        if message.request_id is None and self.recovery:
            self._waiting.append(Waiting(message, seq, previous))
            self._halted.setdefault(message.event_id, {}).update(self._halt(message.event_id))
            return []
        if message.request_id in (None, self.recovery):
            self._apply(message, seq, previous)
            return [message]
        return []

    def _complete(self, end: m.SnapshotComplete) -> list[Message]:
        for match in self.offers.keys() - self._replayed:
            self.offers[match] = {
                key: Offer(offer.timestamp, State.CLOSED) for key, offer in self.offers[match].items()
            }
        if not self.due:
            self.after = max(self.after, end.timestamp)
        self.recovery = ""
        for match, halted in self._halted.items():  # what has come newer since stays
            offers = self.offers.get(match, {})
            offers |= {
                key: offer
                for key, offer in halted.items()
                if offers[key] == Offer(offer.timestamp, State.SUSPENDED)
            }
        self._halted = {}
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            self._apply(each.message, each.seq, each.previous)
        return [end, *(each.message for each in waiting)]

    def _apply(self, message: _MatchMessage, seq: int, previous: int) -> None:
        match, replayed = message.event_id, message.request_id is not None
        if not replayed and previous > self._seqs.get(match, 0):
            self._go_back(match, message.timestamp)
            self.suspend(match)
        self._seqs[match] = max(self._seqs.get(match, 0), seq)
        if not replayed and not self.due:  # a replay that is interrupted is requested again
            self.after = max(self.after, message.timestamp)
        self._replayed.add(match)
        offers = self.offers.setdefault(match, {})
        if isinstance(message, m.BetStop):
            for key, offer in offers.items():
                if offer.state is not State.CLOSED and offer.timestamp < message.timestamp:
                    offers[key] = Offer(message.timestamp, State.SUSPENDED)
        for key, offer in _news(message):
            known = offers[key].timestamp if key in offers else 0
            if message.timestamp > max(self._published.get(match, 0), known):
                offers[key] = offer
        whole = replayed and isinstance(message, m.OddsChange)
        if whole and message.timestamp > self._published.get(match, 0):
            self._published[match] = message.timestamp
            for key, offer in offers.items():
                if offer.timestamp < message.timestamp:
                    offers[key] = Offer(message.timestamp, State.CLOSED)
        if self.due:  # something was missed since, or is missing before
            self.suspend(match)
        elif match in self._halted:  # a live message waits that is newer than what is replayed
            self._halted[match].update(self._halt(match))

    def _go_back(self, match: str, now: int) -> None:
        """What is missing of a match may be as old as its last message, however much came of others since."""
        newest = max((offer.timestamp for offer in self.offers.get(match, {}).values()), default=0)
        self.after = min(self.after, max(newest, now - _DAY_MILLIS))

    def digest(self) -> dict[str, Any]:
        """What is open or suspended, as `POST /cs2/v1/selfcheck` takes it."""
        matches = []
        for match, offers in self.offers.items():
            markets = [_digested(key, offer) for key, offer in offers.items() if offer.state != State.CLOSED]
            if markets:
                matches.append({"match": match, "seq": self._seqs.get(match, 0), "markets": markets})
        return {"matches": matches}

    def to_json(self) -> dict[str, Any]:
        """The book for storage. In the middle of a recovery it is incomplete: store it before or after."""
        return {
            "after": self.after,
            "seqs": self._seqs,
            "published": self._published,
            "offers": {
                match: [
                    [*key, offer.timestamp, offer.state, None if offer.odds is None else str(offer.odds)]
                    for key, offer in offers.items()
                ]
                for match, offers in self.offers.items()
            },
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any], *, stale: bool = False) -> "Book":
        """The book that `to_json` wrote; raises `ValueError`, `KeyError` or `TypeError` for anything else.

        What was missed since is unknown. What was open is suspended, until a recovery shows it; in a `stale`
        book it is open again with all else once what was missed has come, of which it is no part."""
        book = cls(int(stored["after"]))
        book._seqs, book._published = dict(stored["seqs"]), dict(stored["published"])
        for match, rows in stored["offers"].items():
            book.offers[match] = {
                Key(int(market), str(specifiers)): Offer(int(at), State(state), odds and Decimal(odds))
                for market, specifiers, at, state, odds in rows
            }
        book.stale = stale
        if not stale:
            book.suspend()
        return book


def _news(message: _MatchMessage) -> Iterator[tuple[Key, Offer]]:
    """The markets that a message is about, and what it says of each."""
    at = message.timestamp
    if isinstance(message, m.OddsChange):
        for market in message.odds.market:
            yield Key(market.id, market.specifiers or ""), _offer(at, market)
    elif isinstance(message, m.BetSettlement):
        for settled in message.outcomes.market:
            yield Key(settled.id, settled.specifiers or ""), Offer(at, State.CLOSED)
    elif isinstance(message, m.BetCancel | _Rollback) and getattr(message, "end_time", None) is None:
        state = State.SUSPENDED if isinstance(message, _Rollback) else State.CLOSED
        for each in message.market:
            yield Key(each.id, each.specifiers or ""), Offer(at, state)


def _offer(at: int, market: m.OddsMarket) -> Offer:
    if market.status is m.MarketStatus.ACTIVE and market.outcome and market.outcome[0].odds is not None:
        return Offer(at, State.OPEN, market.outcome[0].odds)
    return Offer(at, State.SUSPENDED if market.status is m.MarketStatus.SUSPENDED else State.CLOSED)


def _digested(key: Key, offer: Offer) -> list[Any]:
    if offer.odds is None:
        return [key.market, key.specifiers, -1]
    return [key.market, key.specifiers, 1, float(offer.odds)]
