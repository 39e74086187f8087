"""Until when the prices of a round in play may stay on offer if no line comes."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from app.domain.market import Book, Market
from app.trading.forecast import Forecast
from app.trading.offer_plan import PlannedGroup
from app.trading.offers import Certainty, Offer, differs_by, has_stepped, is_decided
from app.trading.pricing import PricingConfig
from app.trading.round_state import is_over

#: Prices are looked at again after so many ms at the latest; how exactly that time is computed.
HORIZON_MILLIS, _EXACT_MILLIS = 10_000, 500
_ROUND_WINNER = 13


def reprice_at(forecast: Forecast, offers: Iterable[Offer], book: Book, pricing: PricingConfig) -> int | None:
    """When (Unix ms) the markets of these offers, priced by `forecast` and active in the `book`, must be
    priced again if no line comes until then; None: time changes nothing.

    That is when a market of the round must be suspended, or when its odds, or the round's chance, have moved
    by the step that is published. While nothing happens a round's chance moves one way, so that bisection
    finds the first such moment.
    """
    held = {one.group for one in forecast.match.controls.held}
    groups = [offer.group for offer in offers if offer.group.name not in held]
    if forecast.current_round is None or not groups or not forecast.phase.live:
        return None
    of_round = [group for group in groups if group.of_round]
    winner = next((group for group in of_round if _is_winner(group)), None)
    is_due = _due_by_chance(forecast, winner and _home_chance(winner, book), pricing)
    others = [(group, [book[key] for key in group.keys]) for group in of_round if not _is_winner(group)]

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


def _is_winner(group: PlannedGroup) -> bool:
    return group.keys[0][0] == _ROUND_WINNER


def _home_chance(winner: PlannedGroup, book: Book) -> float:
    """Home's chance of the round by the prices in the book."""
    key, _, specifiers = winner.markets[0]
    chance = book[key].probability
    return chance if specifiers.team == "home" else 1 - chance


def _due_by_chance(forecast: Forecast, quoted: float | None, pricing: PricingConfig) -> Callable[[int], bool]:
    """Whether the chance of the round has moved by a step so many ms later, or bets accepted then are on a
    round that is all but decided. `quoted`: that of home by the prices; None where there are none."""
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

    base = chance(0) if quoted is None else quoted
    certain_now = is_certain(0)
    return lambda millis: (
        _moved_by(pricing.price_step, base, chance(millis)) or is_certain(millis) is not certain_now
    )


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
