"""Until when the prices of a round in play may stand if no line comes."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby

from app.domain.market import Book, Market, MarketStatus
from app.trading.closing import Closing, is_decided
from app.trading.forecast import Forecast
from app.trading.match_phase import is_live
from app.trading.offers import differs_by
from app.trading.pricing_config import PricingConfig
from app.trading.registry import RULES
from app.trading.specifiers import parse

#: Prices are looked at again after so many ms at the latest; how exactly that time is computed.
HORIZON_MILLIS, _EXACT_MILLIS = 20_000, 250


def reprice_at(forecast: Forecast, book: Book, pricing: PricingConfig) -> int | None:
    """When (Unix ms) `book`, priced by `forecast`, must be priced again if no line comes until then; None:
    time changes nothing.

    That is when a market of the round must be closed, or when its odds, or the round's chance, have moved by
    the step that is published. While nothing happens a round's chance moves one way, so that bisection finds
    the first such moment.
    """
    current = forecast.current_round
    active = [market for market in book.values() if market.status is MarketStatus.ACTIVE]
    if current is None or not active or not is_live(forecast.facts):
        return None
    chance = forecast.round_win(current.map, current.number)
    groups = _of_round(active)

    def is_due(millis: int) -> bool:
        after = forecast.later(millis)
        moved = after.round_win(current.map, current.number)
        if is_decided(moved) is not is_decided(chance) or _moved_by(pricing.price_step, chance, moved):
            return True
        closing = Closing(after, pricing.bet_delay_seconds)
        return any(_must_change(group, after, closing, pricing.price_step) for group in groups)

    moments = range(_EXACT_MILLIS, HORIZON_MILLIS, _EXACT_MILLIS)
    first = bisect_left(moments, True, key=is_due)
    return forecast.now + (moments[first] if first < len(moments) else HORIZON_MILLIS)


def _of_round(active: Sequence[Market]) -> list[list[Market]]:
    """The markets of the round, by group."""
    of_round = [market for market in active if parse(market.specifiers).round]
    by_group = sorted(of_round, key=lambda market: market.group)
    return [list(members) for _, members in groupby(by_group, key=lambda market: market.group)]


def _moved_by(step: float, chance: float, moved: float) -> bool:
    """Whether the odds of either result moved by this fraction."""
    return abs(moved - chance) >= step * min(chance, 1 - chance)


def _must_change(group: Sequence[Market], after: Forecast, closing: Closing, step: float) -> bool:
    members = [(market.type_id, parse(market.specifiers)) for market in group]
    priced = [(number, specifiers, RULES[number].price(after, specifiers)) for number, specifiers in members]
    if closing.closes(priced):
        return True
    return any(
        differs_by(step, probability, market)
        for (_, _, probability), market in zip(priced, group, strict=True)
    )
