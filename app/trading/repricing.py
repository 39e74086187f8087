"""Until when the prices of a round in play may stay on offer if no line comes."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from app.domain.market import ACTIVE, Market
from app.trading.forecast import Forecast
from app.trading.offer_plan import PlannedGroup, PlannedMarket, planned_group, planned_market
from app.trading.offers import Certainty, differs_by, has_stepped, is_decided
from app.trading.pricing import PricingConfig
from app.trading.registry import RULES
from app.trading.round_state import is_over
from app.trading.rules import parse_specifiers

#: Prices are looked at again after so many ms at the latest; how exactly that time is computed.
HORIZON_MILLIS, _EXACT_MILLIS = 10_000, 500
_ROUND_WINNER = 13


def reprice_at(forecast: Forecast, markets: Iterable[Market], pricing: PricingConfig) -> int | None:
    """When (Unix ms) `markets`, priced by `forecast`, must be priced again if no line comes until then; None:
    time changes nothing.

    That is when a market of the round must be suspended, or when its odds, or the round's chance, have moved
    by the step that is published. While nothing happens a round's chance moves one way, so that bisection
    finds the first such moment.
    """
    current = forecast.current_round
    held = {one.group for one in forecast.match.controls.held}
    active = [one for one in markets if one.status is ACTIVE and one.group not in held]
    if current is None or not active or not forecast.phase.live:
        return None
    is_due = _due_by_chance(forecast, active, pricing)
    others = _groups_beside_winner(active)

    def is_due_by_others(millis: int) -> bool:
        after = forecast.later(millis)
        certainty = Certainty(after, pricing.bet_delay_seconds)
        return any(_must_change(*group, after, certainty, pricing.price_step) for group in others)

    checks = [check for check in (is_due, is_due_by_others) if check(HORIZON_MILLIS)]
    if not checks:
        return forecast.now + HORIZON_MILLIS
    moments = range(_EXACT_MILLIS, HORIZON_MILLIS, _EXACT_MILLIS)
    first = bisect_left(moments, True, key=lambda millis: any(check(millis) for check in checks))
    return forecast.now + (moments[first] if first < len(moments) else HORIZON_MILLIS)


def _due_by_chance(
    forecast: Forecast, active: Sequence[Market], pricing: PricingConfig
) -> Callable[[int], bool]:
    """Whether the chance of the round has moved by a step so many ms later, or bets accepted then are on a
    round that is all but decided."""
    current = forecast.current_round
    assert current is not None
    key = current.map, current.number
    delay = pricing.bet_delay_seconds * 1000

    @cache
    def chance(millis: int) -> float:
        return (forecast.later(millis) if millis else forecast).round_win(*key)

    def is_certain(millis: int) -> bool:
        state = forecast.later(millis + delay).round_state
        return is_decided(chance(millis + delay)) or (state is not None and is_over(state))

    base = next((_home_chance(one) for one in active if one.type_id == _ROUND_WINNER), chance(0))
    certain_now = is_certain(0)
    return lambda millis: (
        _moved_by(pricing.price_step, base, chance(millis)) or is_certain(millis) is not certain_now
    )


def _home_chance(market: Market) -> float:
    home = parse_specifiers(market.specifiers).team == "home"
    return market.probability if home else 1 - market.probability


def _groups_beside_winner(active: Sequence[Market]) -> list[tuple[PlannedGroup, list[Market]]]:
    """The markets of the round but that of its winner, by group."""
    by_group: dict[str, list[Market]] = {}
    for market in active:
        if market.type_id != _ROUND_WINNER and parse_specifiers(market.specifiers).round:
            by_group.setdefault(market.group, []).append(market)
    return [
        (planned_group(name, tuple([_planned(one) for one in members])), members)
        for name, members in by_group.items()
    ]


def _planned(market: Market) -> PlannedMarket:
    return planned_market(RULES[market.type_id], parse_specifiers(market.specifiers))


def _moved_by(step: float, chance: float, moved: float) -> bool:
    """Whether the odds of either result moved by a step."""
    return has_stepped(step, chance, moved) or has_stepped(step, 1 - chance, 1 - moved)


def _must_change(
    group: PlannedGroup, markets: Sequence[Market], after: Forecast, certainty: Certainty, step: float
) -> bool:
    probabilities = group.prices(after)
    if certainty.is_certain(group, min(probabilities), max(probabilities)):
        return True
    return any(
        differs_by(step, probability, market)
        for probability, market in zip(probabilities, markets, strict=True)
    )
