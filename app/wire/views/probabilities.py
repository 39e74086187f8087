"""What bets are worth, as JSON."""

from collections.abc import Iterable
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from app.domain.bet_value import BetValue
from app.domain.ids import match_urn
from app.domain.market import ACTIVE, Market, MarketStatus, Result, market_name
from app.domain.suspension_reasons import market_reason_code
from app.wire.text import iso_time_millis
from app.wire.views.offers import STATUS_NAMES

_DECIMALS = 6


class ProbabilityView(msgspec.Struct, frozen=True, kw_only=True):
    """A market, of whose only outcome exactly one is shown: while it is `active` its `probability`, without
    margin; while it is `suspended` the reason, in English, if it is known, and its code
    (`/cs2/v1/markets/suspension-reasons`); afterwards its `result`. The probabilities of the markets of one
    `group` sum to 1."""

    market_offer_id: str
    id: int
    specifiers: str
    status: str
    group: str
    probability: float | UnsetType = UNSET
    suspended_reason: str | UnsetType = UNSET
    suspended_reason_code: str | UnsetType = UNSET
    result: Result | UnsetType = UNSET
    void_reason_id: int | UnsetType = UNSET


class ProbabilitiesView(msgspec.Struct, frozen=True, kw_only=True):
    """The markets of a match after its message `seq` (`x-seq`). They stand until `valid_until`, and at most
    until the next message about the match; null: until then."""

    match_id: str
    match_urn: str
    seq: int
    valid_until: str | None
    markets: tuple[ProbabilityView, ...]


class CashOutView(msgspec.Struct, frozen=True, kw_only=True):
    """A bet, and what it is worth after the match's message `seq`. `payout` is `stake` times `odds`,
    `fair_value` the expectation of what it pays, `cash_out` what to offer for it: less by the margin of
    `offered_odds`, which are those that you are offered now. Both are what the bet pays once it is settled,
    and null while the market is suspended: ask again at `valid_until`, or after the next message about the
    match. Amounts are in the currency of the stake, rounded down to two decimals."""

    match_id: str
    match_urn: str
    market_offer_id: str
    status: str
    seq: int
    valid_until: str | None
    stake: float
    odds: float
    payout: float
    offered_odds: float | UnsetType = UNSET
    probability: float | UnsetType = UNSET
    fair_value: float | None
    cash_out: float | None
    suspended_reason: str | UnsetType = UNSET
    suspended_reason_code: str | UnsetType = UNSET
    result: Result | UnsetType = UNSET


class ShownMatch(msgspec.Struct, frozen=True):
    """Which state of which match is shown; `valid_until` in Unix ms."""

    id: UUID
    number: int
    seq: int
    valid_until: int | None


def probabilities_view(match: ShownMatch, markets: Iterable[Market]) -> ProbabilitiesView:
    return ProbabilitiesView(
        match_id=str(match.id),
        match_urn=match_urn(match.number),
        seq=match.seq,
        valid_until=iso_time_millis(match.valid_until),
        markets=tuple(map(_probability_view, markets)),
    )


def _probability_view(market: Market) -> ProbabilityView:
    return ProbabilityView(
        market_offer_id=market_name(*market.key),
        id=market.type_id,
        specifiers=market.specifiers,
        status=STATUS_NAMES[market.status],
        group=market.group,
        probability=_probability(market),
        suspended_reason=_reason(market),
        suspended_reason_code=market_reason_code(market) or UNSET,
        result=market.result if market.closed and market.result else UNSET,
        void_reason_id=UNSET if market.void_reason_id is None else market.void_reason_id,
    )


def cash_out_view(match: ShownMatch, market: Market, bet: BetValue) -> CashOutView:
    return CashOutView(
        match_id=str(match.id),
        match_urn=match_urn(match.number),
        market_offer_id=market_name(*market.key),
        status=STATUS_NAMES[market.status],
        seq=match.seq,
        valid_until=iso_time_millis(match.valid_until),
        stake=float(bet.stake),
        odds=float(bet.odds),
        payout=float(bet.payout),
        offered_odds=float(market.odds) if market.status is ACTIVE else UNSET,
        probability=_probability(market),
        fair_value=None if bet.fair_value is None else float(bet.fair_value),
        cash_out=None if bet.cash_out is None else float(bet.cash_out),
        suspended_reason=_reason(market),
        suspended_reason_code=market_reason_code(market) or UNSET,
        result=UNSET if bet.result is None else bet.result,
    )


def _probability(market: Market) -> float | UnsetType:
    return round(market.probability, _DECIMALS) if market.status is ACTIVE else UNSET


def _reason(market: Market) -> str | UnsetType:
    return (market.status is MarketStatus.SUSPENDED and market.reason) or UNSET
