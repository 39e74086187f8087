"""What bets on a match are worth, under /cs2/v1/matches: the probabilities of its markets, and a price at
which to buy a bet back ("cash-out")."""

import re
from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from litestar.params import FromPath, QueryParameter

from app.channels.rest.dependencies import (
    Rest,
    WantedMarkets,
    options,
    unix_millis,
    visible_match,
    wanted_markets,
)
from app.domain import scopes
from app.domain.market import NAME_PATTERN, MarketKey, key_of_name
from app.domain.match import Match
from app.domain.settlement import standing_windows
from app.domain.tenant import Grant
from app.domain.tenant_offer import TenantOffer
from app.domain.types_off import offered_entries
from app.http.auth import AuthenticatedRequest, require_scope
from app.http.handlers import get
from app.kit.errors import Field, Invalid, NotFound
from app.store import combinations, markets, matches, selfcheck_queries, tenants
from app.store.transaction import Tx
from app.trading.cash_out import bet_value, void_chance
from app.wire.views.meta import Single
from app.wire.views.probabilities import (
    CashOutView,
    ProbabilitiesView,
    ShownMatch,
    cash_out_view,
    probabilities_view,
)

_OPT = options(scopes.MARKETS) | {"probabilities": True}
_ODDS = re.compile(r"[1-9][0-9]{0,3}(\.[0-9]{1,3})?", re.ASCII)
_STAKE = re.compile(r"(0|[1-9][0-9]{0,8})(\.[0-9]{1,2})?", re.ASCII)


@get("/cs2/v1/matches/{match_id:str}/probabilities", opt=_OPT)
async def list_match_probabilities(
    request: AuthenticatedRequest,
    rest: Rest,
    match_id: FromPath[str],
    market: WantedMarkets = None,
    closed: Annotated[bool, QueryParameter(description="Whether to list markets with a result.")] = True,
) -> Single[ProbabilitiesView]:
    """The probability of each market without margin, the reason why it is suspended, or its result. Markets
    with a result are for keys with the scope `cs2:markets:settlements`."""
    grant, wanted = request.auth, wanted_markets(market)
    with_closed = closed and scopes.SETTLEMENTS in grant.scopes
    async with rest.store.snapshot() as tx:
        match = await visible_match(tx, grant, match_id)
        shown = await _shown(tx, grant, match)
        offer = await tenants.offer_of(tx, grant.tenant.id)
        found = await markets.seen_of_match(tx, match.id, offer, with_closed=with_closed)
    if wanted is not None:
        found = [one for one in found if wanted in (one.type_id, one.key)]
    return Single(probabilities_view(shown, found))


@get("/cs2/v1/matches/{match_id:str}/cashout", opt=_OPT)
async def get_match_cashout(
    request: AuthenticatedRequest,
    rest: Rest,
    match_id: FromPath[str],
    market: Annotated[
        str,
        QueryParameter(pattern=NAME_PATTERN, max_length=200, description="Its `market_offer_id`."),
    ],
    odds: Annotated[str, QueryParameter(description="The odds at which the bet was taken.")],
    stake: Annotated[str, QueryParameter(description="Its stake, in any currency.")],
    placed_at: Annotated[
        datetime | None,
        QueryParameter(description="When it was placed, UTC: a void that is about some bets alone counts."),
    ] = None,
) -> Single[CashOutView]:
    """What a bet is worth, and what to offer for it: its fair value, less by the margin of the odds that you
    are offered. Of a bet with a result, what it pays; while its market is suspended, nothing but the
    reason."""
    grant, key = request.auth, key_of_name(market)
    taken, amount = _amounts(odds, stake)
    async with rest.store.snapshot() as tx:
        match = await visible_match(tx, grant, match_id)
        shown = await _shown(tx, grant, match)
        offer = await tenants.offer_of(tx, grant.tenant.id)
        found = await markets.seen(tx, match.id, key, offer) if key else None
        void = found is not None and await _is_void(tx, offer, match.id, found.key, placed_at)
    if found is None or not (found.open or found.closed):
        raise NotFound(f"This match has no market {market!r} that was offered to you.")
    may_void = void_chance(match, found, rest.clock())
    bet = bet_value(amount, taken, found, void=void, may_void=may_void)
    if bet.result is not None:
        require_scope(grant, scopes.SETTLEMENTS)
    return Single(cash_out_view(shown, found, bet))


def _amounts(odds: str, stake: str) -> tuple[Decimal, Decimal]:
    """Odds and stake as numbers; raises `Invalid`."""
    wrong = []
    if not _ODDS.fullmatch(odds) or Decimal(odds) <= 1:
        what = "Odds are a number above 1 and below 10,000 with three decimals at most: 2.105."
        wrong.append(Field(("query", "odds"), what, "odds", odds))
    if not _STAKE.fullmatch(stake) or Decimal(stake) <= 0:
        what = "A stake is an amount above 0 and below 1,000,000,000 with two decimals at most: 12.50."
        wrong.append(Field(("query", "stake"), what, "stake", stake))
    if wrong:
        raise Invalid(*wrong)
    return Decimal(odds), Decimal(stake)


async def _shown(tx: Tx, grant: Grant, match: Match) -> ShownMatch:
    """The latest message may be the tenant's alone: what is offered must be read with it. Outside of live
    rounds nothing changes because time passes."""
    live = match.current is not None and match.current.phase == "live"
    valid_until = await matches.reprice_at(tx, match.id) if live else None
    own = await selfcheck_queries.newest_of_tenant(tx, grant.tenant.id, [match.id])
    return ShownMatch(match.id, match.number, own.get(match.id, match.last_seq), valid_until)


async def _is_void(
    tx: Tx, offer: TenantOffer, match_id: UUID, key: MarketKey, placed_at: datetime | None
) -> bool:
    """Whether the bets of a window are void in which this one was placed."""
    if placed_at is None:
        return False
    at = unix_millis(placed_at)
    ledger = await combinations.ledger_of(tx, [(match_id, key)])
    entries = offered_entries(ledger.get((match_id, key), ()), offer.types_off)
    windows = [entry.void_window for entry in standing_windows(entries)]
    return any(window is not None and window.start_time <= at <= window.end_time for window in windows)
