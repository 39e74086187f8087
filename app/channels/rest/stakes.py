"""How much to take on the markets of a match, under /cs2/v1/matches/{id}/stakes.

The advice changes with time, so it is computed for each request and never cached.
"""

import msgspec
from litestar.params import FromPath
from msgspec import UNSET

from app.channels.rest.dependencies import Rest, options, visible_match
from app.domain import scopes
from app.domain.market import Market, MarketStatus, market_name
from app.domain.match import Match
from app.domain.profiles import Profile
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.store import entrants, markets
from app.store.transaction import Tx
from app.trading.forecast import Forecast
from app.trading.match_facts import collect_facts
from app.trading.stake_advice import StakeAdvice, StakeAdvisor
from app.wire.text import iso_time
from app.wire.views.meta import Single
from app.wire.views.stakes import StakeInputsView, StakesView, StakeView

_NO_TIER = "other"
_DECIMALS = 4


@get("/cs2/v1/matches/{match_id:str}/stakes", opt=options(scopes.MARKETS))
async def list_match_stakes(
    request: AuthenticatedRequest, rest: Rest, match_id: FromPath[str]
) -> Single[StakesView]:
    """Advice on the active markets of a match: how much to take, and how long to wait before a bet is
    accepted. A tenant's profile may change both."""
    tenant = request.auth.tenant
    rules = tenant.offer.now
    async with rest.store.snapshot() as tx:
        match = await visible_match(tx, request.auth, match_id)
        present = await markets.open_of_match(tx, match.id)
        liquidity = rest.liquidity_by_tier[await _tier(tx, match)]
    found = [market for market in rules.markets_in_list(present) if market.status is MarketStatus.ACTIVE]
    forecast = Forecast(collect_facts(match, ()), rest.clock())
    advisor = StakeAdvisor(forecast, liquidity, rest.bet_delay_seconds)
    age = advisor.reference_age_seconds
    return Single(
        StakesView(
            seq=match.last_seq,
            valid_until=iso_time(advisor.valid_until),
            liquidity=liquidity,
            silent_seconds=round(advisor.silent_seconds, _DECIMALS),
            seconds_to_play=round(advisor.seconds_to_play, _DECIMALS),
            round_seconds=round(advisor.round_seconds, _DECIMALS),
            reference_age_seconds=None if age is None else round(age, _DECIMALS),
            markets=tuple(
                _stake_view(market, _own(advisor.advise(market), market, rules.profile), tenant.probabilities)
                for market in found
            ),
        )
    )


async def _tier(tx: Tx, match: Match) -> str:
    if match.tournament_id is None:
        return _NO_TIER
    tournament = await entrants.get(tx, entrants.TOURNAMENTS, match.tournament_id)
    return (tournament and tournament.tier) or _NO_TIER


def _own(advice: StakeAdvice, market: Market, profile: Profile | None) -> StakeAdvice:
    """The advice as the tenant's profile changes it."""
    if profile is None:
        return advice
    rule = profile.stake_rule(market)
    delay = advice.bet_delay_seconds + rule.delay_seconds
    return msgspec.structs.replace(
        advice, max_stake=round(advice.max_stake * rule.factor, 2), bet_delay_seconds=delay
    )


def _stake_view(market: Market, advice: StakeAdvice, probabilities: bool) -> StakeView:
    inputs = advice.inputs
    return StakeView(
        market_offer_id=market_name(*market.key),
        odds=inputs.odds,
        max_stake=advice.max_stake,
        bet_delay_seconds=advice.bet_delay_seconds,
        inputs=StakeInputsView(
            skill_spread=round(inputs.skill_spread, _DECIMALS),
            reference_spread=round(inputs.reference_spread, _DECIMALS),
            probability=round(inputs.probability, _DECIMALS) if probabilities else UNSET,
            margin=round(inputs.margin, _DECIMALS) if probabilities else UNSET,
            round_spread=round(inputs.round_spread, _DECIMALS) if probabilities else UNSET,
        ),
    )
