"""What bets on a match are worth ("cash-out"): the probabilities of its markets, or how they ended."""

from collections.abc import Callable, Hashable
from typing import Any

from litestar.params import FromPath

from app.channels.facade.dependencies import Facade, FacadeDependencies, cached, not_found, parse_number
from app.domain import scopes
from app.domain.ids import match_urn
from app.domain.market import Market
from app.domain.match import Match, summarize
from app.domain.tenant import Grant
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.response import RenderedResponse
from app.store import markets, matches
from app.wire.fields import Group, groups
from app.wire.xml import cash_out


def _cached_per(grant: Grant) -> Hashable:
    """What of a grant the documents depend on."""
    seen = (scopes.SETTLEMENTS in grant.scopes, Group.READ in groups(grant.scopes))
    return seen, grant.finished_only, grant.tenant.types_off, grant.tenant.offer.now.key


_OPT = cached(scopes.MARKETS, per=_cached_per) | {"probabilities": True}


@get("/v1/probabilities/{event_id:str}", opt=_OPT)
async def get_facade_probabilities(
    request: AuthenticatedRequest, facade: Facade, event_id: FromPath[str]
) -> RenderedResponse[Any]:
    """What bets on a match are worth: the probability of each market without margin, or how it ended. Markets
    with a result are for keys with the scope `cs2:markets:settlements`."""
    found = await _match(facade, request.auth, event_id)
    return not_found("cashout") if found is None else _response(facade, request.auth, event_id, *found)


@get("/v1/probabilities/{event_id:str}/{market_id:str}", opt=_OPT)
async def get_facade_market_probabilities(
    request: AuthenticatedRequest, facade: Facade, event_id: FromPath[str], market_id: FromPath[str]
) -> RenderedResponse[Any]:
    """The same of the markets of one type."""
    number = parse_number(market_id, "market")
    return await _some(facade, request.auth, event_id, lambda market: market.type_id == number)


@get("/v1/probabilities/{event_id:str}/{market_id:str}/{specifiers:str}", opt=_OPT)
async def get_facade_specified_market_probabilities(
    request: AuthenticatedRequest,
    facade: Facade,
    event_id: FromPath[str],
    market_id: FromPath[str],
    specifiers: FromPath[str],
) -> RenderedResponse[Any]:
    """The same of one market. Its specifiers may be in any order."""
    number, named = parse_number(market_id, "market"), sorted(specifiers.split("|"))

    def wanted(market: Market) -> bool:
        return market.type_id == number and sorted(market.specifiers.split("|")) == named

    return await _some(facade, request.auth, event_id, wanted)


async def _some(
    facade: FacadeDependencies, grant: Grant, event_id: str, wanted: Callable[[Market], bool]
) -> RenderedResponse[Any]:
    """The markets of a match that are wanted; without any, not found."""
    found = await _match(facade, grant, event_id)
    if found is None or not any(map(wanted, found[1])):
        return not_found("cashout")
    return _response(facade, grant, event_id, *found, wanted)


async def _match(facade: FacadeDependencies, grant: Grant, ref: str) -> tuple[Match, list[Market]] | None:
    """The match that `ref` names, with its markets as this key sees them; None if it may not see it."""
    async with facade.store.snapshot() as tx:
        match = await matches.find(tx, ref, finished_only=grant.finished_only)
        if match is None:
            return None
        with_closed = scopes.SETTLEMENTS in grant.scopes
        return match, await markets.seen_of_match(tx, match.id, grant.tenant.offer, with_closed=with_closed)


def _response(
    facade: FacadeDependencies,
    grant: Grant,
    event_id: str,
    match: Match,
    found: list[Market],
    wanted: Callable[[Market], bool] | None = None,
) -> RenderedResponse[Any]:
    document = cash_out.cashout(
        facade.dialect.id_of(event_id, match_urn(match.number)),
        facade.producer.id,
        match,
        summarize(match) if Group.READ in groups(grant.scopes) else None,
        filter(wanted, found) if wanted else found,
        betting_status=cash_out.betting_status(match, found),
    )
    return facade.respond(document, match.id)
