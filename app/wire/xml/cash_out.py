"""What bets on a match are worth, as clients of the established layout receive it ("cashout"): the
probability of each market without margin, or how it ended.

Root, elements and the codes of `cashout_status` are those of the layout's public schema. There a probability
is that of an outcome, and ours has one outcome a market; `betstop_reason` stands at the list of markets, and
here at each market, too.
"""

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

from app.domain.catalogue import load
from app.domain.market import ACTIVE, CANCELLED, CLOSED, Market, MarketStatus
from app.domain.match import Match, MatchSummary
from app.domain.suspension_reasons import market_reason_code, match_reason_code
from app.wire.generated import common, facade
from app.wire.xml import feed

BETS_TAKEN, NO_BETS, OVER = 1, 2, 3  #: betting statuses, as the catalogue has them
_CERTAIN = _WHOLE_STAKE = Decimal(1)


def cashout(
    event_id: str,
    product: int,
    match: Match,
    head: MatchSummary | None,
    markets: Iterable[Market],
    *,
    betting_status: int,
) -> bytes:
    """The document of a match with these of its markets; `head` is its state, left out for None."""
    odds = facade.CashoutOdds(
        betting_status=betting_status,
        betstop_reason=_reason_id(match_reason_code(match)),
        market=tuple([_market(market) for market in markets]),
    )
    return facade.write_cashout(
        facade.Cashout(
            product=product,
            event_id=event_id,
            timestamp=match.last_stamp,
            sport_event_status=feed.event_status(head) if head else None,
            odds=odds,
        )
    )


def betting_status(match: Match, markets: Iterable[Market]) -> int:
    """How betting on a match stands, of which a tenant sees these markets."""
    if match.over:
        return OVER
    return BETS_TAKEN if any(market.status is ACTIVE for market in markets) else NO_BETS


def _market(market: Market) -> facade.CashoutMarket:
    active = market.status is ACTIVE
    fair = market.fair_probability
    void = market.status is CANCELLED
    outcome = facade.CashoutOutcome(
        id=feed.OUTCOME,
        odds=market.odds if active else None,
        probabilities=None if fair is None else feed.as_decimal(fair),
        refund_probabilities=_CERTAIN if void else None,
        void_factor=_WHOLE_STAKE if void else None,
        active=active,
    )
    return facade.CashoutMarket(
        id=market.type_id,
        specifiers=market.specifiers or None,
        status=common.MarketStatus(market.status),
        cashout_status=_cashout_status(market.status),
        betstop_reason=_reason_id(market_reason_code(market)),
        outcome=(outcome,),
    )


def _cashout_status(status: MarketStatus) -> facade.CashoutStatus:
    if status is ACTIVE:
        return facade.CashoutStatus.AVAILABLE
    return facade.CashoutStatus.CLOSED if status in CLOSED else facade.CashoutStatus.UNAVAILABLE


def _reason_id(code: str | None) -> int | None:
    return None if code is None else _reason_ids()[code]


@lru_cache(maxsize=1)
def _reason_ids() -> dict[str, int]:
    return {reason.code: reason.id for reason in load().suspension_reasons}
