"""The markets that the state of a match demands to be on offer, priced, without those that are all but
certain.

A bet is accepted some seconds after placement; what will be certain then is treated as certain now.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from propcache.api import cached_property

from app.domain.market import ACTIVE, Book, Market, MarketKey
from app.trading.forecast import Forecast
from app.trading.market_controls import MarketControls
from app.trading.offer_plan import PlannedGroup, Scope, groups_on_offer
from app.trading.pricing import LOWEST_ODDS_SHARE, MAX_SHARE, MIN_SHARE, PricingConfig
from app.trading.pricing import shares as shares_of
from app.trading.round_state import is_over

#: No market is on offer whose result is likelier than this: such prices carry high risk and little
#: information.
MAX_PROBABILITY = 0.97
MIN_PROBABILITY = 1 - MAX_PROBABILITY


class Certainty:
    """What is certain at one moment: `forecast` is that moment's. Outside of rounds in play nothing is."""

    def __init__(self, forecast: Forecast, delay_seconds: int) -> None:
        self._live = forecast.phase.live
        self._accepted = forecast.later(delay_seconds * 1000) if self._live else forecast

    def is_certain(self, group: PlannedGroup, low: float, top: float) -> bool:
        """Whether a group, with its least and its highest probability, must not be on offer: its result is
        all but certain already, or when bets are accepted."""
        if not self._live:
            return False
        if not (low >= MIN_PROBABILITY and top <= MAX_PROBABILITY):
            return True
        return self.will_be_certain(group)

    def will_be_certain(self, group: PlannedGroup) -> bool:
        """Whether the result of a group, open now in a round in play, is all but certain when bets are
        accepted."""
        if group.of_round:
            return self._round_is_over or self._is_decided_when_accepted(group)
        return self.round_is_decided and self._is_decided_when_accepted(group)

    @cached_property
    def _round_is_over(self) -> bool:
        state = self._accepted.round_state
        return state is not None and is_over(state)

    @cached_property
    def round_is_decided(self) -> bool:
        """Whether the round will be all but decided: what depends on more than the round is decided soon only
        if the round is."""
        current = self._accepted.current_round
        return current is not None and is_decided(self._accepted.round_win(current.map, current.number))

    def _is_decided_when_accepted(self, group: PlannedGroup) -> bool:
        prices = group.prices(self._accepted)
        if group.pair:
            return is_decided(prices[0])
        return not (min(prices) >= MIN_PROBABILITY and max(prices) <= MAX_PROBABILITY)


def is_decided(probability: float) -> bool:
    """Whether a result is all but certain."""
    return not MIN_PROBABILITY <= probability <= MAX_PROBABILITY


#: Smaller moves of a probability than this are not published.
MIN_MOVE = 0.0025
#: Odds that are too short wait for so many steps.
FALLS = 3

OfferedMarket = tuple[MarketKey, float, float]  #: its probability and its inverse odds


class Offer(msgspec.Struct, frozen=True, gc=False):
    """A group to offer: of each of its markets the model's probability, and the inverse odds (with the
    margin). `margin_factor` is as that of a `Market`."""

    group: PlannedGroup
    probabilities: Sequence[float]
    shares: Sequence[float]
    margin_factor: float = 1.0

    def members(self, scope: Scope) -> Iterable[OfferedMarket]:
        """Those of its markets that are about this `scope`."""
        group = self.group
        found = zip(group.keys, self.probabilities, self.shares, strict=True)
        if group.scopes == (scope,):
            return found
        return [one for one, market in zip(found, group.markets, strict=True) if market.scope == scope]


def priced_offers(
    forecast: Forecast, book: Book, pricing: PricingConfig, controls: MarketControls | None = None
) -> list[Offer]:
    """Every group that may be on offer, with its prices by `forecast` and what traders have set; without
    those whose result is certain.

    Nor, while a round is played, those whose favourite is at the lowest odds: the odds of its opponent would
    not move while its probability doubles or halves, and a bet by somebody who saw why would be accepted.
    """
    total, live = 1 + pricing.margin, forecast.phase.live
    certainty = Certainty(forecast, pricing.bet_delay_seconds) if live else None
    #: While the round is undecided, what depends on more than the round is not certain either.
    any_certain = certainty is not None and certainty.round_is_decided
    offers: list[Offer] = []
    for group, probabilities in groups_on_offer(forecast, book):
        if controls is not None or not group.pair:
            offer = _priced(group, probabilities, book, pricing, controls, certainty)
            if offer is not None:
                offers.append(offer)
            continue
        # Most groups: the same as `_priced`, of two chances that sum to 1.
        chance, other = probabilities
        if not (MIN_PROBABILITY <= chance <= MAX_PROBABILITY >= other >= MIN_PROBABILITY):
            continue
        if certainty and (any_certain or group.of_round) and certainty.will_be_certain(group):
            continue
        share, other_share = chance * total, other * total
        if MIN_SHARE <= share < MAX_SHARE > other_share >= MIN_SHARE:
            shares: Sequence[float] = (share, other_share)
        else:
            shares = shares_of(probabilities, pricing.margin)
        if shares and not (live and max(shares) >= LOWEST_ODDS_SHARE):
            offers.append(Offer(group, probabilities, shares))
    return offers


def _priced(
    group: PlannedGroup,
    probabilities: Sequence[float],
    book: Book,
    pricing: PricingConfig,
    controls: MarketControls | None,
    certainty: Certainty | None,
) -> Offer | None:
    """The group with its prices; None when it may not be on offer. `certainty`: that of a round in play."""
    if controls is not None and controls.keeps_off(group):
        return None
    low, top = min(probabilities), max(probabilities)
    if (
        abs(sum(probabilities) - 1) > 1e-6
        or not is_within_bounds(len(probabilities), low, top)
        or (certainty and certainty.is_certain(group, low, top))
    ):
        return None
    margin, long_shots, factor, held = pricing.margin, 0.0, 1.0, False
    if controls is not None:
        probabilities = controls.probabilities(group, probabilities)
        if controls.moves_too_far(group, probabilities, book):
            return None
        margin, long_shots = controls.margin(group)
        factor = margin / pricing.margin if pricing.margin else 1.0
        held = controls.holds(group)
    shares = shares_of(probabilities, margin, long_shots)
    if not shares or (certainty and max(shares) >= LOWEST_ODDS_SHARE and not held):
        return None
    return Offer(group, probabilities, shares, factor)


def is_within_bounds(markets: int, low: float, top: float) -> bool:
    """Whether a group of so many markets may be priced, with its least and its highest probability."""
    return low > 0 and top <= MAX_PROBABILITY and (markets >= 3 or low >= MIN_PROBABILITY)


def main_lines(offers: Iterable[Offer], book: Mapping[MarketKey, Market]) -> set[str]:
    """Of each ladder the group whose line is nearest to evens by the prices of the `book`, which has all of
    these offers; of two that are equally near the first."""
    nearest: dict[str, tuple[float, str]] = {}
    for offer in offers:
        group = offer.group
        if ladder := group.ladder:
            distance = round(min([abs(book[key].probability - 0.5) for key in group.keys]), 9)
            known = nearest.get(ladder)
            if known is None or distance < known[0]:
                nearest[ladder] = distance, group.name
    return {name for _, name in nearest.values()}


def has_moved(step: float, offers: Iterable[Offer], scope: Scope, book: Mapping[MarketKey, Market]) -> bool:
    """Whether the markets about this `scope`, which depend on each other, differ enough from the book to be
    published along with others."""
    for offer in offers:
        if scope not in offer.group.scopes:
            continue
        for key, probability, _ in offer.members(scope):
            market = book.get(key)
            if (
                market is None
                or abs(market.probability - probability) >= MIN_MOVE
                or differs_by(step, probability, market)
            ):
                return True
    return False


def has_moved_by(step: float, offers: Iterable[Offer], book: Mapping[MarketKey, Market]) -> bool:
    """Whether an offer is not in the book, or its odds have moved by a step."""
    low, high, known = 1 - FALLS * step, 1 + step, book.get
    for offer in offers:
        for key, probability in zip(offer.group.keys, offer.probabilities, strict=True):
            market = known(key)
            # The same as `differs_by`, for all offers of each line.
            if (
                market is None
                or market.status is not ACTIVE
                or not low < probability / market.probability < high
            ):
                return True
    return False


def differs_by(step: float, probability: float, market: Market | None) -> bool:
    """Whether a market has to be opened at this probability, or its odds have moved by a step."""
    if market is None or market.status is not ACTIVE:
        return True
    return has_stepped(step, market.probability, probability)


def has_stepped(step: float, quoted: float, probability: float) -> bool:
    """Whether odds are too long by this fraction, now that the `quoted` probability has moved, or too short
    by `FALLS` times as much: those that are too long are worth a bet, those that are too short none."""
    return not 1 - FALLS * step < probability / quoted < 1 + step
