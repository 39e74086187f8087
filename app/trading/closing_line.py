"""Our prices and the market's at fixed times before play, compared by what came.

The last price before play (the closing line) is the best forecast of a match that anybody has. Who offers
better odds than it says is right has value on sale.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log
from statistics import mean, median
from typing import NamedTuple

from app.domain.market import MarketKey
from app.kit.grouping import grouped
from app.trading.model import logistic, logit
from app.trading.reference_prices import HIGHEST_BOOK, LOWEST_BOOK, fair

#: Value from here on counts as on sale: less is within what sources differ by.
VALUE = 0.02
_SURE = 1e-4  #: chances nearer to certainty are read as this
_STEPS = 50


class PricedMarket(NamedTuple):
    """A market at one moment: the probability that it was priced by, by our ratings alone where that is
    known, by the sources; our odds where it was on offer; whether it won."""

    key: MarketKey
    ours: float
    own: float | None
    odds: float | None
    theirs: float
    won: bool

    @property
    def value(self) -> float | None:
        """What a unit at our odds was worth by the sources, beyond the unit."""
        return None if self.odds is None else self.odds * self.theirs - 1


class PricedGroup(NamedTuple):
    """All markets of a group, of which one won, at a moment: so many ms before play."""

    family: str
    millis: int
    markets: tuple[PricedMarket, ...]

    @property
    def value(self) -> float:
        """The most that a unit at our odds was worth beyond the unit; 0 if nothing was."""
        return max(0.0, *(one.value for one in self.markets if one.value is not None), 0.0)


class Comparison(NamedTuple):
    """Of all groups of a family at one moment. Log losses are of the markets that won. `slope`: by how much
    our logits must be multiplied to fit what came: above 1, our prices are too timid; None while everything
    or nothing fits. `value_share`: the share of groups with a price worth more than `VALUE`; `value`: the
    mean of what the best price of each group was worth, 0 where it was worth nothing."""

    family: str
    millis: int
    groups: int
    ours: float
    own: float | None
    theirs: float
    slope: float | None
    value_share: float
    value: float


def fair_medians(
    odds: Mapping[tuple[str, MarketKey], float], members: Iterable[MarketKey]
) -> dict[MarketKey, float]:
    """The median over the sources that have all `members` of a group, without margin, summing to 1; none
    where no source has."""
    keys = sorted(members)
    sources = {source for source, _ in odds}
    complete = [
        fair([odds[source, key] for key in keys])
        for source in sorted(sources)
        if all((source, key) in odds for key in keys) and _is_book([odds[source, key] for key in keys])
    ]
    if len(keys) < 2 or not complete:
        return {}
    medians = [median(each) for each in zip(*complete, strict=True)]
    return {key: each / sum(medians) for key, each in zip(keys, medians, strict=True)}


def _is_book(odds: Sequence[float]) -> bool:
    """Whether these are the odds of a bookmaker or an exchange, as in `reference_prices`."""
    return len(odds) > 2 or LOWEST_BOOK <= sum(1 / each for each in odds) <= HIGHEST_BOOK


def compared(groups: Iterable[PricedGroup]) -> list[Comparison]:
    """The comparison for each family and moment, by family, the earliest first."""
    found = grouped(((one.family, -one.millis), one) for one in groups)
    return [_comparison(of_both) for _, of_both in sorted(found.items())]


def _comparison(groups: Sequence[PricedGroup]) -> Comparison:
    every = [market for group in groups for market in group.markets]
    winners = [market for market in every if market.won]
    owns = [market.own for market in winners if market.own is not None]
    return Comparison(
        family=groups[0].family,
        millis=groups[0].millis,
        groups=len(groups),
        ours=mean(_loss(market.ours) for market in winners),
        own=mean(map(_loss, owns)) if len(owns) == len(winners) else None,
        theirs=mean(_loss(market.theirs) for market in winners),
        slope=slope([(market.ours, market.won) for market in every]),
        value_share=mean(group.value > VALUE for group in groups),
        value=mean(group.value for group in groups),
    )


def _loss(chance: float) -> float:
    return -log(max(chance, _SURE))


def slope(forecasts: Sequence[tuple[float, bool]]) -> float | None:
    """The factor of the logits of these forecasts with the least log loss, by Newton's method; None where
    there is none: every outcome is on the likelier side, or all forecasts are evens."""
    logits = [(logit(min(max(chance, _SURE), 1 - _SURE)), won) for chance, won in forecasts]
    if all(value == 0 or (value > 0) is won for value, won in logits):
        return None
    if all(value == 0 or (value > 0) is not won for value, won in logits):
        return None
    factor = 1.0
    for _ in range(_STEPS):
        chances = [(value, logistic(factor * value), won) for value, won in logits]
        gradient = sum(value * (won - chance) for value, chance, won in chances)
        curvature = sum(value**2 * chance * (1 - chance) for value, chance, won in chances)
        step = gradient / curvature
        factor += max(-1.0, min(1.0, step))
        if abs(step) < 1e-9:
            break
    return factor
