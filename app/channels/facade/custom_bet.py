"""Combinations of markets: which can be part of one, and what one costs."""

from collections.abc import Hashable
from typing import Any

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.channels.facade.dependencies import Facade, FacadeDependencies, cached, not_found, options
from app.combinations.request import Calculation, CombinationService, Selections, WantedLeg
from app.domain import scopes
from app.domain.combination import MIN_LEGS
from app.domain.ids import match_urn
from app.domain.market import MarketKey
from app.domain.tenant import Grant
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.representation import Format
from app.http.response import RenderedResponse
from app.wire.xml import custom_bet
from app.wire.xml.custom_bet import CalculatedPrice

Combinations = NamedDependency[CombinationService]
_BODY_BYTES = 8_192  #: ten selections with the longest names are half of that
_ID = "X-Combination-Id"
_SELECTIONS = (
    '<selections><selection id="od:match:1" market_id="1" specifiers="team=home" outcome_id="1"/>'
    '<selection id="od:match:1" market_id="8" specifiers="map=1|threshold=21.5" outcome_id="1"/></selections>'
)
_FILTER = (
    '<filterSelections><selection id="od:match:1"><market market_id="1" specifiers="team=home"'
    ' outcome_id="1"/></selection></filterSelections>'
)


def _cached_per(grant: Grant) -> Hashable:
    """What of a grant the selections depend on; the tenant decides whether the match is booked."""
    return grant.finished_only, grant.tenant.id, grant.tenant.types_off, grant.tenant.offer.now.key


def _taking(example: str) -> dict[str, Any]:
    """`opt` of a route that takes selections."""
    taken = {"takes": str(Format.XML), "example": example, "response_headers": (_ID,)}
    return options(scopes.MARKETS) | taken


@get("/v1/custombet/{event_id:str}/available_selections", opt=cached(scopes.MARKETS, per=_cached_per))
async def get_facade_available_selections(
    request: AuthenticatedRequest, facade: Facade, combinations: Combinations, event_id: FromPath[str]
) -> RenderedResponse[Any]:
    """The markets of a match that can be part of a combination: none while no bet on it is taken."""
    found = await combinations.selections(request.auth, event_id)
    if found is None:
        return not_found("available_selections")
    match, keys = found
    name = facade.dialect.id_of(event_id, match_urn(match.number))
    return facade.respond(custom_bet.available_selections(name, keys), match.id)


@post(
    "/v1/custombet/calculate",
    status_code=200,
    opt=_taking(_SELECTIONS),
    request_max_body_size=_BODY_BYTES,
)
async def request_facade_custom_bet(
    request: AuthenticatedRequest, facade: Facade, combinations: Combinations
) -> RenderedResponse[Any]:
    """Price 2 to 10 selections together, and list what can be added. The price is stored; `X-Combination-Id`
    names it."""
    found = await combinations.calculate(request.auth, await _selections(request, MIN_LEGS))
    further = [(one.match_number, one.further) for one in found.selections]
    document = custom_bet.calculation_response(_price(found, request.auth), further)
    return _response(facade, document, found)


@post(
    "/v1/custombet/calculate-filter",
    status_code=200,
    opt=_taking(_FILTER),
    request_max_body_size=_BODY_BYTES,
)
async def request_facade_filtered_custom_bet(
    request: AuthenticatedRequest, facade: Facade, combinations: Combinations
) -> RenderedResponse[Any]:
    """Price 1 to 10 selections together, and list every market of their matches that can be selected, with
    whether it conflicts with them. The price of two or more is stored; `X-Combination-Id` names it."""
    found = await combinations.calculate(request.auth, await _selections(request, 1))
    selectable = [(one.match_number, _conflicts(one)) for one in found.selections]
    document = custom_bet.filtered_calculation_response(_price(found, request.auth), selectable)
    return _response(facade, document, found)


async def _selections(request: AuthenticatedRequest, least: int) -> list[WantedLeg]:
    return [
        WantedLeg(one.event, one.market_id, one.specifiers, ("body", "selection", place))
        for place, one in enumerate(custom_bet.parse_selections(await request.body(), least))
    ]


def _price(found: Calculation, grant: Grant) -> CalculatedPrice:
    probability = found.price.probability if grant.tenant.probabilities else None
    return CalculatedPrice(found.price.odds, probability)


def _conflicts(one: Selections) -> dict[MarketKey, bool]:
    """Every market that can be selected, and whether it conflicts; what is chosen does not."""
    fitting = {*one.chosen, *one.further}
    return {key: key not in fitting for key in {*one.every, *one.chosen}}


def _response(facade: FacadeDependencies, document: bytes, found: Calculation) -> RenderedResponse[Any]:
    stored = found.combination
    return RenderedResponse(facade.body(document), extra={_ID: str(stored.id)} if stored else {})
