"""A replayed fact as its envelope; only the request id tells it from a live one."""

from app.domain.ids import match_urn
from app.recovery.replay import Fact
from app.wire.envelopes import feed


def render(fact: Fact, product: int, request_id: str) -> bytes:
    """The XML of one fact."""
    match = match_urn(fact.number)
    if fact.message == "odds_change":
        return feed.odds_change(match, product, fact.at, fact.status, fact.markets, request_id)
    if fact.message == "fixture_change":
        return feed.fixture_change(match, product, fact.at, fact.change_type, request_id)
    return feed.transition(fact.message, match, product, fact.at, fact.entries, request_id)
