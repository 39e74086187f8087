"""Several markets of a match in one bet: the price, and what cannot be combined."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations

import msgspec

from app.domain.market import ACTIVE, Book, Market, MarketKey
from app.trading.forecast import Forecast
from app.trading.joint_distribution import NEVER, JointDistribution
from app.trading.registry import RULES

MOST_LEGS = 10  #: of one match
MAX_ODDS = Decimal(1000)  #: of a combination
MIN_ODDS = Decimal("1.01")


class LegProblem(msgspec.Struct, frozen=True):
    """Why a leg cannot be part of a combination: `leg` is its place among the legs, `with_legs` are those of
    the legs that it conflicts with. `code` is one of `unknown_market`, `not_on_offer`, `held`, `impossible`,
    `redundant`, `not_combinable`, `duplicate`."""

    leg: int
    code: str
    message: str
    with_legs: tuple[int, ...] = ()


class CombinationRefused(ValueError):
    """The legs cannot be combined, for these `problems`."""

    def __init__(self, problems: Sequence[LegProblem]) -> None:
        super().__init__("; ".join(f"leg {one.leg + 1}: {one.message}" for one in problems))
        self.problems = tuple(problems)


class PricedLeg(msgspec.Struct, frozen=True):
    """A leg with its market's own probability and odds."""

    key: MarketKey
    probability: float
    odds: Decimal


class CombinedPrice(msgspec.Struct, frozen=True):
    """`probability` is fair (q of `joint_distribution`); `odds` have the margins of all legs."""

    probability: float
    odds: Decimal
    legs: tuple[PricedLeg, ...]


def combine(forecast: Forecast, book: Book, legs: Sequence[MarketKey]) -> CombinedPrice:
    """The price of one to ten legs. Raises `CombinationRefused` with every problem that was found: first of
    legs alone, then of legs together."""
    problems = list(_problems_alone(forecast, book, legs))
    if not problems:
        joint = JointDistribution(forecast)
        problems = list(_problems_together(joint, legs))
    if problems:
        raise CombinationRefused(problems)
    return _priced(joint, book, legs)


def combined_price(forecast: Forecast, book: Book, legs: Sequence[MarketKey]) -> CombinedPrice:
    """The price of legs that are left of a combination which was sold: whatever could be said against them,
    they are paid."""
    return _priced(JointDistribution(forecast), book, legs)


def _priced(joint: JointDistribution, book: Book, legs: Sequence[MarketKey]) -> CombinedPrice:
    fair = joint.probability(legs)
    priced = tuple([PricedLeg(key, book[key].probability, book[key].odds) for key in legs])
    return CombinedPrice(fair, odds_of(fair, priced), priced)


def odds_of(fair: float, legs: Sequence[PricedLeg]) -> Decimal:
    """The odds of a combination with this fair probability, rounded down: it has the margins that its legs
    have alone. A leg alone has its own odds."""
    if len(legs) == 1:
        return legs[0].odds
    share = fair
    for leg in legs:
        share *= max(1.0, 1 / (float(leg.odds) * leg.probability))
    if share >= 1 / float(MIN_ODDS):
        return MIN_ODDS
    return min(Decimal(int(1000 / share)) / 1000, MAX_ODDS)


def available(forecast: Forecast, book: Book, legs: Sequence[MarketKey] = ()) -> list[MarketKey]:
    """The markets on offer that can be combined with `legs`, or at all: none of them would then be
    impossible or redundant. Raises `CombinationRefused` if `legs` cannot be combined."""
    candidates = [
        key for key, market in book.items() if key not in legs and not _problem_of(forecast, market)
    ]
    if not legs:
        return candidates
    joint = JointDistribution(forecast)
    problems = [*_problems_alone(forecast, book, legs)] or [*_problems_together(joint, legs)]
    if problems:
        raise CombinationRefused(problems)
    return [key for key in candidates if len(legs) < MOST_LEGS and joint.goes_with(key, legs)]


def _problems_alone(forecast: Forecast, book: Book, legs: Sequence[MarketKey]) -> Iterator[LegProblem]:
    if not 0 < len(legs) <= MOST_LEGS:
        raise ValueError(f"a combination has one to {MOST_LEGS} legs of a match, not {len(legs)}")
    for place, key in enumerate(legs):
        market = book.get(key)
        if market is None:
            yield LegProblem(place, "unknown_market", "the match has no such market")
        elif key in legs[:place]:
            first = legs.index(key)
            yield LegProblem(place, "duplicate", f"this is leg {first + 1} again", (first,))
        elif problem := _problem_of(forecast, market):
            yield LegProblem(place, *problem)


def _problem_of(forecast: Forecast, market: Market) -> tuple[str, str] | None:
    """Code and message, where a market cannot be a leg."""
    rule = RULES.get(market.type_id)
    if rule is None or rule.proposition is None:
        return "not_combinable", "markets of this type cannot be combined"
    if market.status is not ACTIVE:
        return "not_on_offer", "the market is not on offer"
    if any(held.group == market.group for held in forecast.match.controls.held):
        return "held", "a trader holds the probability of this market: it cannot be combined"
    return None


def _problems_together(joint: JointDistribution, legs: Sequence[MarketKey]) -> Iterator[LegProblem]:
    """Of legs that have none alone."""
    if len(legs) < 2:
        return
    apart = [
        (one, two)
        for one, two in combinations(range(len(legs)), 2)
        if joint.are_dependent(legs[one], legs[two])
    ]
    for one, two in apart:
        message = f"how it depends on {_named((one,))} is not known to the model"
        yield LegProblem(two, "not_combinable", message, (one,))
    if apart:
        return
    whole = joint.probability(legs)
    if whole <= NEVER:
        yield from _impossible(joint, legs)
        return
    for place in range(len(legs)):
        others = [leg for other, leg in enumerate(legs) if other != place]
        if joint.changes_nothing(whole, others):
            rest = [other for other in range(len(legs)) if other != place]
            alone = [
                other
                for other in rest
                if joint.changes_nothing(joint.probability([legs[other], legs[place]]), [legs[other]])
            ]
            implying = tuple(alone[:1] or rest)
            message = f"it wins whenever {_named(implying)} {'wins' if len(implying) == 1 else 'win'}"
            yield LegProblem(place, "redundant", message, implying)


def _impossible(joint: JointDistribution, legs: Sequence[MarketKey]) -> Iterator[LegProblem]:
    """Each pair that excludes each other; without one, the last leg and all others."""
    pairs = [
        (one, two)
        for one, two in combinations(range(len(legs)), 2)
        if joint.probability([legs[one], legs[two]]) <= NEVER
    ]
    last = len(legs) - 1
    apart: list[tuple[int, tuple[int, ...]]] = [(two, (one,)) for one, two in pairs]
    for leg, others in apart or [(last, tuple(range(last)))]:
        yield LegProblem(leg, "impossible", f"it cannot win together with {_named(others)}", others)


def _named(places: Sequence[int]) -> str:
    return " and ".join(f"leg {place + 1}" for place in places)
