"""Prices of several markets of one match together."""

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from app.domain.market import ACTIVE, Book, MarketKey
from app.trading.forecast import Forecast


class LegProblem(msgspec.Struct, frozen=True):
    """Why a leg cannot be part of the combination. `code`: unknown_market | not_on_offer | held | impossible
    | redundant | not_combinable | duplicate; `with_legs`: the places of the other legs it conflicts with;
    `message`: English."""

    leg: int
    code: str
    message: str
    with_legs: tuple[int, ...] = ()


class CombinationRefused(ValueError):
    """`problems`: what is wrong with the legs."""

    def __init__(self, problems: Sequence[LegProblem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)


class PricedLeg(msgspec.Struct, frozen=True):
    """A leg alone: its probability without margin, and its odds."""

    key: MarketKey
    probability: float
    odds: Decimal


class CombinedPrice(msgspec.Struct, frozen=True):
    """`probability` is fair: 1 / probability are the fair odds under the void rule. `odds` have the margin,
    and three decimals."""

    probability: float
    odds: Decimal
    legs: tuple[PricedLeg, ...]


# PLACEHOLDER: legs as if independent, and conflicts of equal and complementary legs alone.
def combine(forecast: Forecast, book: Book, legs: Sequence[MarketKey]) -> CombinedPrice:
    """The price of 1 to 10 legs of one match; raises `CombinationRefused`."""
    problems = []
    for place, key in enumerate(legs):
        market = book.get(key)
        if market is None:
            problems.append(LegProblem(place, "unknown_market", "There is no such market of this match."))
        elif market.status is not ACTIVE:
            problems.append(LegProblem(place, "not_on_offer", "This market is not on offer now."))
        elif key in legs[:place]:
            first = legs.index(key)
            problems.append(LegProblem(place, "duplicate", "This leg is named twice.", (first,)))
        else:
            groups = [book[other].group for other in legs[:place] if other in book]
            if market.group and market.group in groups:
                other = groups.index(market.group)
                problems.append(LegProblem(place, "impossible", "Both legs cannot win.", (other,)))
    if problems:
        raise CombinationRefused(problems)
    priced = tuple(PricedLeg(key, book[key].probability, book[key].odds) for key in legs)
    probability, odds = 1.0, Decimal(1)
    for leg in priced:
        probability, odds = probability * leg.probability, odds * leg.odds
    return CombinedPrice(probability, odds.quantize(Decimal("0.001")), priced)


def available(forecast: Forecast, book: Book, legs: Sequence[MarketKey] = ()) -> list[MarketKey]:
    """The active markets that can be legs; with `legs`, those whose addition is possible and not
    redundant."""
    groups = {book[key].group for key in legs if book[key].group}
    return [
        key
        for key, market in book.items()
        if market.status is ACTIVE and key not in legs and market.group not in groups
    ]
