"""What a bet is worth now, and what a bookmaker pays to buy it back."""

from decimal import ROUND_DOWN, Decimal

from app.domain.bet_value import BetValue
from app.domain.market import ACTIVE, Market, Result
from app.domain.match import Match
from app.trading.forecast import Forecast
from app.trading.match_facts import collect_facts
from app.trading.registry import RULES
from app.trading.rules import parse_specifiers

_CENT = Decimal("0.01")


def void_chance(match: Match, market: Market, now: int) -> float:
    """The probability at `now` (Unix ms) that bets on an active market of this match become void although its
    map is played out; 0 of most types."""
    chance = RULES[market.type_id].void_chance if market.type_id in RULES else None
    if chance is None or market.status is not ACTIVE:
        return 0.0
    return chance(Forecast(collect_facts(match, ()), now), parse_specifiers(market.specifiers))


def bet_value(
    stake: Decimal, odds: Decimal, market: Market, *, void: bool = False, may_void: float = 0.0
) -> BetValue:
    """The value of a bet that was taken at `odds` on a market, which has the odds that the tenant is offered
    now. A settled bet is worth what it pays, and one that is `void`, alone or with its market, its stake. So
    is an open one in so far as it `may_void`, which is a probability (`void_chance`). Amounts are rounded
    down."""
    payout = stake * odds
    result = Result.VOID if void else market.result if market.closed else None
    fair: Decimal | None = None
    offer: Decimal | None = None
    if result is not None:
        fair = offer = {Result.WON: payout, Result.LOST: Decimal(0), Result.VOID: stake}[result]
    elif market.status is ACTIVE:
        fair = payout * Decimal(str(market.probability))
        offer = min(fair, payout * Decimal(str(cash_out_share(market.probability, market.odds))))
        if returned := Decimal(str(may_void)):
            fair, offer = (returned * stake + (1 - returned) * amount for amount in (fair, offer))
    return BetValue(
        stake,
        odds,
        _cents(payout),
        None if fair is None else _cents(fair),
        None if offer is None else _cents(offer),
        result,
    )


def cash_out_share(probability: float, odds: Decimal) -> float:
    """The share of its payout at which a bet is bought back, from the fair probability and the odds that the
    tenant's customers are offered.

    Odds have a margin m: 1/odds = probability * (1 + m). The holder of a bet is sure of a part of its
    payout by betting on the opposite, at odds with the same margin: that costs (1 - probability) * (1 + m) of
    the payout, and the rest is left whatever happens. That rest is the price of the bet: for more the
    bookmaker would buy back what its own odds sell cheaper. It is never above the probability, and 0 where
    the opposite costs the whole payout. Where the opposite has another margin, as with long shots that bear
    more, it is an approximation that keeps both bounds.
    """
    if probability <= 0:
        return 0.0
    with_margin = max(1.0, 1 / (float(odds) * probability))
    return max(0.0, 1 - (1 - probability) * with_margin)


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(_CENT, ROUND_DOWN)
