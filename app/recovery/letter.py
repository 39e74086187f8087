"""What a recovery tells, one envelope a letter."""

from collections.abc import Sequence

import msgspec

from app.domain.ids import match_urn
from app.domain.market import Market
from app.domain.match import MatchSummary
from app.domain.settlement import LedgerEntry
from app.wire.envelopes import feed


class Letter(msgspec.Struct, frozen=True):
    """One envelope to be: the feed message, the match's number, its stamp (ms), and the change up to which
    everything about the match is told by it."""

    message: str
    number: int
    at: int
    seq: int
    status: MatchSummary | None = None
    markets: Sequence[Market] = ()
    entries: Sequence[LedgerEntry] = ()
    change_type: int = 0

    def body(self, product: int, request_id: str) -> bytes:
        """Its XML; only the request id tells it from a live one."""
        match = match_urn(self.number)
        if self.message == "odds_change":
            return feed.odds_change(match, product, self.at, self.status, self.markets, request_id)
        if self.message == "fixture_change":
            return feed.fixture_change(match, product, self.at, self.change_type, request_id)
        return feed.transition(self.message, match, product, self.at, self.entries, request_id)
