"""One match at one seq of the change log, and how a change alters it; pure."""

from collections.abc import Iterable, Mapping
from itertools import count
from uuid import UUID

import msgspec

from app.domain.changes import RoundLive
from app.domain.entrants import NO_LOGOS, TeamLogos
from app.domain.market import Market
from app.domain.match import Match, Round, Status, TimelineEvent
from app.domain.settlement import LedgerEntry
from app.domain.types_off import NONE_OFF, OffTypes, markets_in_list
from app.store.changes import ChangeRow
from app.wire.views.match import MatchParts

decode_market = msgspec.json.Decoder(Market).decode
decode_round = msgspec.json.Decoder(Round).decode
decode_event = msgspec.json.Decoder(TimelineEvent).decode
decode_entry = msgspec.json.Decoder(LedgerEntry).decode
decode_round_live = msgspec.json.Decoder(RoundLive).decode
_versions = count()


class MatchState:
    """A match with its rounds, events and open markets (active or suspended). `seqs` has the newest seq of
    each kind of entity, `market_seqs` that of each market. `version` is a new one after every change, unique
    among all states."""

    def __init__(
        self,
        match: Match,
        rounds: Iterable[Round],
        events: Iterable[TimelineEvent],
        markets: Iterable[Market],
        seqs: Mapping[str, int],
        market_seqs: Mapping[str, int],
        logos: TeamLogos = NO_LOGOS,
    ) -> None:
        self.match = match
        self.logos = logos
        self.replace_history(rounds, events)
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
        """Live, or with an open market: a snapshot shows something of it."""
        return self.live or bool(self.markets)

    def parts(self, booked: bool, off: OffTypes = NONE_OFF) -> MatchParts:
        """What the match resource is made of, in the order of REST; to a tenant for which these market types
        are off."""
        present = [self.markets[key] for key in sorted(self.markets)]
        return MatchParts(
            self.match,
            rounds=[self.rounds[key] for key in sorted(self.rounds)],
            events=[self.events[key] for key in sorted(self.events)],
            markets=markets_in_list(present, off),
            booked=booked,
            logos=self.logos,
        )

    def replace_history(self, rounds: Iterable[Round], events: Iterable[TimelineEvent]) -> None:
        """Set its rounds and events to those read from the database."""
        self.version = next(_versions)
        self.rounds = {played.id: played for played in rounds}
        self.events = {event.id: event for event in events}

    def replace_match(self, match: Match, logos: TeamLogos = NO_LOGOS) -> None:
        """Set the match and its teams' logos to those read from the database."""
        self.version = next(_versions)
        self.match = match
        self.logos = logos

    def apply(self, row: ChangeRow) -> None:
        """Apply a change of anything but the match itself, which is read from the database."""
        self.version = next(_versions)
        if row.entity == "market":
            market = decode_market(row.body)
            self.market_seqs[row.key] = row.seq
            if market.open:
                self.markets[market.key] = market
            else:
                self.markets.pop(market.key, None)
        elif row.entity == "event":
            event = decode_event(row.body)
            self.events[event.id] = event
        elif row.entity == "round" and row.frame != "round.started":
            played = decode_round(row.body)
            self.rounds[played.id] = played
        if row.frame or row.entity != "match":
            self.seqs[row.entity if row.frame else "match"] = row.seq
