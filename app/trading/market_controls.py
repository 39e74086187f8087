"""What traders have set on a match, applied to the groups that are on offer at one moment."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from app.domain.market import ACTIVE, Book, MarketKey, PricePhase
from app.domain.trading_controls import (
    CONTRADICTS_HELD,
    LINE_WITHDRAWN,
    MARKET_SUSPENDED,
    MOVED_TOO_FAR,
    NO_CONTROLS,
    TYPE_CLOSED,
)
from app.trading.forecast import Forecast
from app.trading.offer_plan import PlannedGroup
from app.trading.pricing import PricingConfig
from app.trading.registry import RULES
from app.trading.rules import KILL_FAMILIES, Specifiers, parse_specifiers

#: Types of a round whose results decide its winner, and with that its map and match.
_DECIDING = frozenset(("round_winner", "round_ending"))


class MarketControls:
    """The controls of the match of `forecast`, and the margins of its groups."""

    def __init__(self, forecast: Forecast, pricing: PricingConfig) -> None:
        controls = self._controls = forecast.match.controls
        self._markets = {one.key for one in controls.suspended_markets}
        self._groups = {one.group for one in controls.suspended_groups}
        self._types = {one.type_id for one in controls.closed_types}
        self._withdrawn = {one.group for one in controls.lines if not one.added}
        self._held = {one.group: one for one in controls.held}
        self._too_far: set[str] = set()
        self._margins = _margins(forecast) if controls.margins else {}
        self._default = pricing.margin, 0.0

    def reason(self, key: MarketKey, group: str) -> str:
        """Why this market of the group is not on offer, as far as traders decide it, or ""."""
        if key in self._markets or group in self._groups:
            return MARKET_SUSPENDED
        if key[0] in self._types:
            return TYPE_CLOSED
        if group in self._withdrawn:
            return LINE_WITHDRAWN
        if self._held and group not in self._held:
            for held in self._controls.held:
                if contradicts(held.market_key, key):
                    return CONTRADICTS_HELD
        return MOVED_TOO_FAR if group in self._too_far else ""

    def keeps_off(self, group: PlannedGroup) -> bool:
        """Whether the group is not on offer: one of its markets alone has no complementary price."""
        return any(self.reason(market.key, group.name) for market in group.markets)

    def holds(self, group: PlannedGroup) -> bool:
        """Whether a probability of the group is held: its price does not move because a trader has set it."""
        return group.name in self._held

    def probabilities(self, group: PlannedGroup, by_model: Sequence[float]) -> Sequence[float]:
        """Those that the group is priced by: where one is held, the others share the rest as the model has
        them."""
        held = self._held.get(group.name)
        if held is None:
            return by_model
        of_model = next(
            (
                probability
                for market, probability in zip(group.markets, by_model, strict=True)
                if market.key == held.market_key
            ),
            None,
        )
        if of_model is None:
            return by_model
        rest = (1 - held.probability) / (1 - of_model)
        return [
            held.probability if market.key == held.market_key else probability * rest
            for market, probability in zip(group.markets, by_model, strict=True)
        ]

    def moves_too_far(self, group: PlannedGroup, probabilities: Sequence[float], book: Book) -> bool:
        """Whether a price would move further at once than is allowed, or has not come back since it did; the
        group is then off offer."""
        most = self._controls.max_move
        if not most:
            return False
        for planned, probability in zip(group.markets, probabilities, strict=True):
            market = book.get(planned.key)
            if market is None or not (market.status is ACTIVE or market.reason == MOVED_TOO_FAR):
                continue
            if abs(market.probability / probability - 1) >= most:
                self._too_far.add(group.name)
                return True
        return False

    def margin(self, group: PlannedGroup) -> tuple[float, float]:
        """The group's margin, and the part of it that its markets bear equally."""
        if not self._margins:
            return self._default
        family = group.markets[0].rule.family
        return self._margins.get(family) or self._margins.get("") or self._default


def market_controls(forecast: Forecast, pricing: PricingConfig) -> MarketControls | None:
    """The controls of the match; None where nothing is set."""
    return None if forecast.match.controls == NO_CONTROLS else MarketControls(forecast, pricing)


def _margins(forecast: Forecast) -> dict[str, tuple[float, float]]:
    """The margin by family: what is set for the present phase goes before what is set for all."""
    phase, found = price_phase(forecast), {}
    for wanted in ("", phase):
        for one in forecast.match.controls.margins:
            if one.phase == wanted:
                found[one.family] = one.margin, one.long_shots
    return found


def price_phase(forecast: Forecast) -> PricePhase:
    """In which phase a match is. The last rounds are those that may end their map, and overtime."""
    if forecast.match.started_at is None:
        return "before_play"
    play = forecast.phase.map
    last = play is not None and max(play.home_score, play.away_score) >= play.max_rounds // 2
    return "last_rounds" if last else "in_play"


@lru_cache(maxsize=16_384)
def contradicts(held: MarketKey, other: MarketKey) -> bool:
    """Whether prices of another group could contradict a probability that is held for this market: both are
    about the same round, the result of the same map, or the same player.

    Rounds of one map are independent of each other, and so are players; a round's result decides its map's,
    and a map's the match's.
    """
    one, two = parse_specifiers(held[1]), parse_specifiers(other[1])
    if one.round and two.round and (one.map, one.round) != (two.map, two.round):
        return False
    if one.player and two.player and _players(one).isdisjoint(_players(two)):
        return False
    if (one.map and two.map) and one.map != two.map:
        return False
    shared = set(_subjects(RULES[held[0]].family, one)) & set(_subjects(RULES[other[0]].family, two))
    return bool(shared)


def _players(specifiers: Specifiers) -> set[str]:
    return {specifiers.player, specifiers.opponent} - {""}


def _subjects(family: str, specifiers: Specifiers) -> Iterator[str]:
    """What the markets of a family are about."""
    if specifiers.round:
        yield "round"
    if not specifiers.round or family in _DECIDING:
        yield "result"
    if family in KILL_FAMILIES:
        yield "kills"
