"""Combinations (bet builder), under /cs2/v1/combinations: price them, and ask how they stand."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import UNSET

from app.channels.rest.dependencies import (
    CreatedCursor,
    Limit,
    Rest,
    created_after,
    options,
    page,
    unix_millis,
)
from app.combinations import settlement
from app.combinations.request import CombinationService, WantedLeg
from app.combinations.settlement import SettledCombination
from app.domain import scopes
from app.domain.market import market_type
from app.domain.tenant import Grant
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.errors import Invalid
from app.wire.views.combinations import (
    CombinationView,
    NewCombination,
    WantedLegBody,
    combination_view,
    leg_problems,
)
from app.wire.views.meta import Many, Single

_BODY_BYTES = 8_192  #: ten legs with the longest names are half of that
_OPT = options(scopes.MARKETS)


@post("/cs2/v1/combinations", status_code=201, opt=_OPT, request_max_body_size=_BODY_BYTES)
async def request_combination(
    request: AuthenticatedRequest,
    rest: Rest,
    combinations: NamedDependency[CombinationService],
    data: JSONBody[NewCombination],
) -> Single[CombinationView]:
    """Price 2 to 10 legs together, and store the price. Legs of one match are priced jointly, by one state of
    the match; matches are independent of each other. A combination with a leg that cannot be part of it is
    refused, and each such leg named with the legs that it conflicts with."""
    if wrong := list(leg_problems(data)):
        raise Invalid(*wrong)
    legs = [_wanted(leg, place) for place, leg in enumerate(data.legs)]
    request_id = None if data.request_id is UNSET else data.request_id
    made = await combinations.create(request.auth, legs, request_id)
    return Single(_view(await settlement.find(rest.store, request.auth, made.id), request.auth))


@get("/cs2/v1/combinations", opt=_OPT)
async def list_combinations(
    request: AuthenticatedRequest,
    rest: Rest,
    since: Annotated[
        datetime | None, QueryParameter(description="Combinations priced then or later; UTC.")
    ] = None,
    cursor: CreatedCursor = None,
    limit: Limit = 50,
) -> Many[CombinationView]:
    """Your combinations as they stand, oldest first. `next_cursor` leads to the next page and is absent on
    the last. To follow them, begin again with a `since` some seconds before the newest that you have."""
    found = await settlement.page(
        *(rest.store, request.auth),
        since=unix_millis(since) if since else 0,
        after=created_after(cursor),
        limit=limit + 1,
    )
    return page(found, limit, lambda one: _view(one, request.auth), _cursor)


@get("/cs2/v1/combinations/{combination_id:uuid}", opt=_OPT)
async def get_combination(
    request: AuthenticatedRequest, rest: Rest, combination_id: FromPath[UUID]
) -> Single[CombinationView]:
    """One of your combinations as it stands: its status follows from the settlement ledger. A void leg falls
    out, and the price is made again from the legs that are left, by the state that the whole was priced
    by."""
    return Single(_view(await settlement.find(rest.store, request.auth, combination_id), request.auth))


def _view(found: SettledCombination, grant: Grant) -> CombinationView:
    shown = grant.tenant.probabilities
    return combination_view(found.combination, found.settlement, found.paid, probabilities=shown)


def _wanted(leg: WantedLegBody, place: int) -> WantedLeg:
    name = leg.market_offer_id
    return WantedLeg(leg.match, market_type(name), name.partition(":")[2], ("body", "legs", place))


def _cursor(last: SettledCombination) -> str:
    return f"{last.combination.created_at}.{last.combination.id}"
