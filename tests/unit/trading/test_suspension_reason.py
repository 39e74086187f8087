"""The reason of a suspension is public; an operator's own text is not."""

from decimal import Decimal
from uuid import UUID

from app.domain.changes import DetailsChanged
from app.domain.doubts import BY_OPERATOR
from app.domain.lifecycle import suspend
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Status
from app.trading import engine
from app.trading.pricing import PricingConfig
from app.wire.views.offers import market_view

MATCH = Match(UUID(int=7), 7, "Northwind", "Harbour", "Cup", status=Status.LIVE)
MARKET = Market(1, "team=home", MarketStatus.ACTIVE, Decimal("1.85"), 0.5)


def reasons(match: Match) -> list[object]:
    reaction = engine.react(
        match, (DetailsChanged(),), {MARKET.key: MARKET}, now=1, may_price=True, pricing=PricingConfig()
    )
    return [
        (seen.suspended_reason, seen.suspended_reason_code) for seen in map(market_view, reaction.markets)
    ]


def test_what_an_operator_wrote_stays_with_operators() -> None:
    suspended, _ = suspend(MATCH, "a source claims that it is fixed")
    assert suspended.suspended == "a source claims that it is fixed"
    assert reasons(suspended) == [(BY_OPERATOR, "operator")]


def test_an_active_market_has_no_reason() -> None:
    assert not market_view(MARKET).suspended_reason
    assert not market_view(MARKET).suspended_reason_code
