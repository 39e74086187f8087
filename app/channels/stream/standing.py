"""What is known about one match at one moment of the change log, and how a change alters it; pure."""

from collections.abc import Iterable, Mapping
from itertools import count
from uuid import UUID

import msgspec

from app.domain.changes import RoundLive
from app.domain.market import Market
from app.domain.match import Match, Round, Status, TimelineEvent
from app.domain.settlement import LedgerEntry
from app.store.changes import ChangeRow
from app.wire.views.match import MatchParts

market_of = msgspec.json.Decoder(Market).decode
round_of = msgspec.json.Decoder(Round).decode
event_of = msgspec.json.Decoder(TimelineEvent).decode
entry_of = msgspec.json.Decoder(LedgerEntry).decode
round_live_of = msgspec.json.Decoder(RoundLive).decode
_versions = count()


class Standing:
    """A match and what hangs on it. `markets` are those on offer or suspended. `seqs` numbers the newest
    change of each kind, `market_seqs` that of each market. `version` is another after every change, and no
    other standing's."""

    def __init__(
        self,
        match: Match,
        rounds: Iterable[Round],
        events: Iterable[TimelineEvent],
        markets: Iterable[Market],
        seqs: Mapping[str, int],
        market_seqs: Mapping[str, int],
    ) -> None:
        self.match = match
        self.recall(rounds, events)
        self.markets = {market.key: market for market in markets}
        self.seqs = dict(seqs)
        self.market_seqs = dict(market_seqs)
        self.version = next(_versions)

    @property
    def id(self) -> UUID:
        return self.match.id

    @property
    def live(self) -> bool:
        return self.match.status is Status.LIVE

    @property
    def finished(self) -> bool:
        return self.match.status is Status.FINISHED

    @property
    def relevant(self) -> bool:
        """Live, or with something on offer: what a snapshot shows something of."""
        return self.live or bool(self.markets)

    def parts(self, booked: bool) -> MatchParts:
        """What the match resource is made of, in the order that REST has."""
        return MatchParts(
            self.match,
            rounds=[self.rounds[key] for key in sorted(self.rounds)],
            events=[self.events[key] for key in sorted(self.events)],
            markets=[self.markets[key] for key in sorted(self.markets)],
            booked=booked,
        )

    def recall(self, rounds: Iterable[Round], events: Iterable[TimelineEvent]) -> None:
        """Take its history as it was read."""
        self.version = next(_versions)
        self.rounds = {played.id: played for played in rounds}
        self.events = {event.id: event for event in events}

    def renew(self, match: Match) -> None:
        """Take its state as it was read."""
        self.version = next(_versions)
        self.match = match

    def fold(self, row: ChangeRow) -> None:
        """Take in a change of anything but the match's own state, which is read anew."""
        self.version = next(_versions)
        if row.entity == "market":
            market = market_of(row.body)
            self.market_seqs[row.key] = row.seq
            if market.open:
                self.markets[market.key] = market
            else:
                self.markets.pop(market.key, None)
        elif row.entity == "event":
            event = event_of(row.body)
            self.events[event.id] = event
        elif row.entity == "round" and row.frame != "round.started":
            played = round_of(row.body)
            self.rounds[played.id] = played
        if row.frame or row.entity != "match":
            self.seqs[row.entity if row.frame else "match"] = row.seq
