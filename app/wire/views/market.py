"""Market offers as JSON."""

import msgspec

from app.domain.market import Market, MarketStatus
from app.wire.views.times import time


class MarketView(msgspec.Struct, frozen=True):
    """An offer. `market_id` and `specifiers` name it as the feed does; `market_offer_id` is the same name in
    one string. `status` is the feed's code; `suspended` says: take no bets now, and `reason` why."""

    market_offer_id: str
    market_id: int
    specifiers: str
    status: int
    suspended: bool
    reason: str | None
    odds: float
    probability: float
    group: str
    priced_at: str | None


def offer_id(match_number: int, type_id: int, specifiers: str) -> str:
    """The offer's name: match number, market id, specifiers."""
    return f"{match_number}/{type_id}/{specifiers}"


def market_view(match_number: int, market: Market) -> MarketView:
    return MarketView(
        market_offer_id=offer_id(match_number, market.type_id, market.specifiers),
        market_id=market.type_id,
        specifiers=market.specifiers,
        status=int(market.status),
        suspended=market.status is not MarketStatus.ACTIVE,
        reason=market.reason or None,
        odds=float(market.odds),
        probability=round(market.probability, 6),
        group=market.group,
        priced_at=time(market.priced_at or None),
    )
