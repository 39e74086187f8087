"""What clients read once: who their key is, the category's icon, and catalogues: sports, producers, market
types, match statuses, reasons of voids and suspensions.

None of the catalogues changes while the process runs.
"""

from importlib.resources import files
from typing import Any

from litestar import Response
from litestar.params import FromPath

from app.channels.facade.dependencies import (
    Facade,
    cached,
    not_found,
    parse_locale,
    parse_number,
    per_nothing,
)
from app.domain import catalogue
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.representation import Format
from app.http.response import NOTHING, RenderedResponse
from app.wire.xml import dictionaries, responses

_ANY_KEY = cached(per=per_nothing)
_WHOAMI = {"any_query": True, "format": Format.XML, "cached_per": lambda grant, _: grant}
_ICON_PATH = "/categories/cs2.svg"
_ICON = files(__package__).joinpath("cs2.svg").read_bytes()
_SVG = "image/svg+xml"
_ICON_HEADERS = {"Cache-Control": "public, max-age=86400"}


@get("/v1/users/whoami", opt=_WHOAMI)
async def get_facade_whoami(request: AuthenticatedRequest, facade: Facade) -> RenderedResponse[Any]:
    """The content of `/v1/whoami`, always as XML; with the virtual host to connect to."""
    return facade.respond(responses.bookmaker_details(request.auth), NOTHING)


@get("/v1/sports/{locale:str}/sports", opt=_ANY_KEY)
async def get_facade_sports(facade: Facade, locale: FromPath[str]) -> RenderedResponse[Any]:
    """The categories: Counter-Strike 2. Its name is the same in every language."""
    parse_locale(locale)
    return facade.respond(dictionaries.sports(facade.icon_url, facade.dialect), NOTHING)


@get("/v1/descriptions/producers", opt=_ANY_KEY)
async def get_facade_producers(facade: Facade) -> RenderedResponse[Any]:
    """The streams of the feed, each with the window of its recoveries."""
    return facade.respond(dictionaries.producers([facade.producer]), NOTHING)


@get("/v1/descriptions/{locale:str}/markets", opt=_ANY_KEY)
async def get_facade_markets(facade: Facade, locale: FromPath[str]) -> RenderedResponse[Any]:
    """The market catalogue: every type that the feed may offer."""
    language = parse_locale(locale)
    return facade.respond(dictionaries.market_descriptions(catalogue.load().markets, language), NOTHING)


@get("/v1/descriptions/{locale:str}/markets/{market_id:str}/variants/{variant:str}", opt=_ANY_KEY)
async def get_facade_market_variant(
    facade: Facade, locale: FromPath[str], market_id: FromPath[str], variant: FromPath[str]
) -> RenderedResponse[Any]:
    """A market type as that variant of it: no type's outcomes vary, so they are the declared ones."""
    language, number = parse_locale(locale), parse_number(market_id, "market")
    found = catalogue.load().by_id.get(number or 0)
    if found is None:
        return not_found("market_descriptions")
    return facade.respond(dictionaries.market_descriptions([found], language, variant), NOTHING)


@get("/v1/descriptions/{locale:str}/match_status", opt=_ANY_KEY)
async def get_facade_match_statuses(facade: Facade, locale: FromPath[str]) -> RenderedResponse[Any]:
    """The match status dictionary: the codes that the feed sends."""
    language = parse_locale(locale)
    entries = catalogue.load().statuses
    return facade.respond(dictionaries.match_status_descriptions(entries, language), NOTHING)


@get("/v1/descriptions/{locale:str}/void_reasons", opt=_ANY_KEY)
async def get_facade_localised_void_reasons(facade: Facade, locale: FromPath[str]) -> RenderedResponse[Any]:
    """The reasons why markets are void."""
    language = parse_locale(locale)
    entries = catalogue.load().void_reasons
    return facade.respond(dictionaries.void_reasons_descriptions(entries, language), NOTHING)


@get("/v1/descriptions/void_reasons", opt=_ANY_KEY)
async def get_facade_void_reasons(facade: Facade) -> RenderedResponse[Any]:
    """The same in English, for clients that name no language and look for the root `void_reasons`."""
    return facade.respond(dictionaries.void_reasons(catalogue.load().void_reasons), NOTHING)


@get("/v1/descriptions/{locale:str}/betstop_reasons", opt=_ANY_KEY)
async def get_facade_localised_betstop_reasons(
    facade: Facade, locale: FromPath[str]
) -> RenderedResponse[Any]:
    """The reasons why offers are suspended."""
    language, entries = parse_locale(locale), catalogue.load().suspension_reasons
    return facade.respond(dictionaries.betstop_reasons_descriptions(entries, language), NOTHING)


@get("/v1/descriptions/betstop_reasons.xml", opt=_ANY_KEY)
async def get_facade_betstop_reasons(facade: Facade) -> RenderedResponse[Any]:
    """The same in English, for clients that name no language."""
    entries = catalogue.load().suspension_reasons
    return facade.respond(dictionaries.betstop_reasons_descriptions(entries, "en"), NOTHING)


@get("/v1/descriptions/{locale:str}/betting_status", opt=_ANY_KEY)
async def get_facade_localised_betting_statuses(
    facade: Facade, locale: FromPath[str]
) -> RenderedResponse[Any]:
    """How betting on a match may stand."""
    language, entries = parse_locale(locale), catalogue.load().betting_statuses
    return facade.respond(dictionaries.betting_status_descriptions(entries, language), NOTHING)


@get("/v1/descriptions/betting_status.xml", opt=_ANY_KEY)
async def get_facade_betting_statuses(facade: Facade) -> RenderedResponse[Any]:
    """The same in English, for clients that name no language."""
    entries = catalogue.load().betting_statuses
    return facade.respond(dictionaries.betting_status_descriptions(entries, "en"), NOTHING)


def icon_url(public_url: str, own: str) -> str:
    """The URL of the icon: the deployment's `own` if it sets one, else that of the route below."""
    return own or public_url.rstrip("/") + _ICON_PATH


@get(_ICON_PATH, opt={"open": True, "any_query": True}, media_type=_SVG)
async def get_category_icon() -> Response[bytes]:
    """The icon, as SVG."""
    return Response(_ICON, media_type=_SVG, headers=_ICON_HEADERS)
