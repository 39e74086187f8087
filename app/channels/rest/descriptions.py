"""What holds for all markets: the catalogue, under /cs2/v1/markets/descriptions, and what their prices
assume."""

from typing import Annotated, Any

from litestar.params import QueryParameter

from app.channels.rest.dependencies import Rest
from app.domain import catalogue
from app.domain.catalogue import Locale
from app.domain.tenant import Grant
from app.http import response
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get, siblings
from app.http.representation import Format, response_format
from app.http.response import NOTHING, RenderedResponse
from app.wire.views.descriptions import (
    DescriptionView,
    PricingView,
    SuspensionReasonView,
    description_views,
    suspension_reason_views,
)
from app.wire.views.meta import Many, Single, many
from app.wire.xml import dictionaries


def _cached_per(grant: Grant, form: Format) -> None:
    """The response is the same for every grant."""


_OPT: dict[str, Any] = {"sport": "cs2", "sibling": True, "cached_per": _cached_per}


@get(siblings("/cs2/v1/markets/descriptions"), opt=_OPT)
async def list_market_descriptions(
    request: AuthenticatedRequest,
    locale: Annotated[Locale, QueryParameter(description="The language of names: en or ru.")] = "en",
) -> RenderedResponse[Many[DescriptionView]]:
    """Every market type that may be offered."""
    types = catalogue.load().markets
    if response_format(request.scope) is Format.XML:
        return response.as_xml(dictionaries.market_descriptions(types, locale), invalidated_by=NOTHING)
    return response.as_json(many(description_views(types, locale)), invalidated_by=NOTHING)


@get("/cs2/v1/markets/suspension-reasons", opt={"sport": "cs2"})
async def list_suspension_reasons(
    locale: Annotated[Locale, QueryParameter(description="The language: en or ru.")] = "en",
) -> Many[SuspensionReasonView]:
    """Every code of why a market or a match is suspended."""
    return many(suspension_reason_views(catalogue.load().suspension_reasons, locale))


@get("/cs2/v1/markets/pricing", opt={"sport": "cs2"})
async def get_pricing(rest: Rest) -> Single[PricingView]:
    """What the prices assume of the bets that are placed at them."""
    return Single(PricingView(rest.bet_delay_seconds))
