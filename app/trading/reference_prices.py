"""Fair probabilities from other bookmakers' and exchanges' prices, and how much they are worth.

Each source's margin is taken out by the power method: all inverse odds are raised to the one power that makes
them sum to 1. It takes more margin from long shots than from favourites, as bookmakers put it on (S. Clarke,
S. Kovalchik, M. Ingram, "Adjusting bookmaker's odds to allow for overround", American Journal of Sports
Science 5 (2017)). On the series that coefficients were fitted to it has a lower log loss than Shin's method
and than proportional inverse odds (docs/pricing.md).

What several sources say is the median of their logits, so that one of three that is wrong does not count.
"""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from app.domain.references import MarketAnchor, ReferenceState
from app.trading.coefficients import load
from app.trading.model import logistic, logit

#: The sum of inverse odds of a bookmaker's or an exchange's market; outside of it a price is misread.
LOWEST_BOOK, HIGHEST_BOOK = 0.98, 1.25
#: Logits by which a source may differ from the median of all before it is left out.
OUTLIER = 0.7
#: Logits between the lowest and the highest of two sources, or of all that are not outliers, up to which they
#: agree.
AGREEMENT = 0.8
_SURE = 1e-4  #: chances nearer to certainty are read as this
_SECONDS = 1000
_STEPS = 60  #: each halves the interval of the power: more than a float can tell apart


class Quote(NamedTuple):
    """A source's decimal odds of both teams to win the match, the older of which was set `at` (Unix ms)."""

    source: str
    home: float
    away: float
    at: int


class Reading(NamedTuple):
    """What a quote says: home's fair probability, or why it does not count (`refused`, "" if it does)."""

    quote: Quote
    home: float | None
    refused: str = ""


class Consensus(NamedTuple):
    """What all quotes say together. `home`: home's fair probability by the median of the sources that count,
    None while the state is neither `followed` nor `disagreeing`; `sources`: how many count; `at`: when the
    oldest of their prices was set; `weight`: 0 to 1, how much `home` counts beside our own probability."""

    state: ReferenceState
    readings: tuple[Reading, ...]
    home: float | None = None
    sources: int = 0
    at: int = 0
    weight: float = 0.0

    @property
    def anchor(self) -> MarketAnchor | None:
        """What the match is priced by; None where prices do not follow the sources."""
        if self.state != "followed" or self.home is None:
            return None
        return MarketAnchor(self.home, self.weight, self.sources, self.at)


def fair(odds: Sequence[float]) -> tuple[float, ...]:
    """The probabilities behind decimal odds above 1 of all outcomes of a market, by the power method."""
    shares = [1 / each for each in odds]
    low, high = 0.0, 1.0
    while sum(share**high for share in shares) > 1:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        power = (low + high) / 2
        low, high = (power, high) if sum(share**power for share in shares) > 1 else (low, power)
    found = [share**high for share in shares]
    return tuple(each / sum(found) for each in found)


def consensus(quotes: Sequence[Quote], now: int, *, stale_seconds: int) -> Consensus:
    """What the newest quote of each source says at `now` (Unix ms). A price that was set more than
    `stale_seconds` ago does not count, and counts the less the older it is until then."""
    readings = tuple(_reading(quote, now, stale_seconds) for quote in quotes)
    readings = _without_outliers(readings)
    counting = [one for one in readings if one.home is not None and not one.refused]
    if not counting:
        aged = any(one.refused == _STALE for one in readings)
        return Consensus("stale" if aged else "none", readings)
    logits = [logit(one.home) for one in counting if one.home is not None]
    home = logistic(median(logits))
    at = min(one.quote.at for one in counting)
    if max(logits) - min(logits) > AGREEMENT:
        return Consensus("disagreeing", readings, home, len(counting), at)
    fresh = 1 - (now - at) / (stale_seconds * _SECONDS)
    return Consensus("followed", readings, home, len(counting), at, weight(len(counting), fresh))


_STALE = "too old"


def _reading(quote: Quote, now: int, stale_seconds: int) -> Reading:
    if min(quote.home, quote.away) <= 1:
        return Reading(quote, None, "odds of 1 or less")
    book = 1 / quote.home + 1 / quote.away
    if not LOWEST_BOOK <= book <= HIGHEST_BOOK:
        return Reading(quote, None, f"inverse odds sum to {book:.3f}")
    home = min(max(fair((quote.home, quote.away))[0], _SURE), 1 - _SURE)
    return Reading(quote, home, _STALE if now - quote.at > stale_seconds * _SECONDS else "")


def _without_outliers(readings: tuple[Reading, ...]) -> tuple[Reading, ...]:
    """Of three sources or more, those far from the median are refused."""
    logits = [logit(one.home) for one in readings if one.home is not None and not one.refused]
    if len(logits) < 3:
        return readings
    middle = median(logits)
    return tuple(
        one._replace(refused="far from the other sources")
        if one.home is not None and not one.refused and abs(logit(one.home) - middle) > OUTLIER
        else one
        for one in readings
    )


def weight(sources: int, fresh: float) -> float:
    """How much the sources' logit counts beside ours, 0 to 1: by the precision of both. How far our logits
    are off was fitted, and how far those of one source are (`coefficients.market`); the error of several is
    that of one over their number. `fresh` goes from 1 to 0 as a price becomes stale."""
    fitted = load().market
    return fresh * fitted.own_error / (fitted.own_error + fitted.source_error / sources)
