"""The routes as the framework registers them: paths, methods (GET for HEAD, too), parameters and types.

Public operations have an id, after which generated clients name their methods. An operation keeps its id as
long as it exists; a test checks that each has one here.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

import msgspec
from litestar import Litestar, MediaType, Response
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.routes import HTTPRoute
from litestar.types import Empty

from app.http.handlers import XML_SUFFIX
from app.http.openapi.schemas import Json

_PRODUCT = "post /v1/{product}"
_LOCALE = "get /v1/sports/{locale}"
_MATCH = "get /cs2/v1/matches/{match_id}"
#: By method and path, without the suffix of an XML sibling.
OPERATION_IDS = {
    "get /categories/cs2.svg": "get_category_icon",
    "get /cs2/v1/maps": "list_maps",
    "get /cs2/v1/maps/pool": "get_map_pool",
    "get /cs2/v1/markets/descriptions": "list_market_descriptions",
    "get /cs2/v1/markets/pricing": "get_pricing",
    "get /cs2/v1/markets/suspension-reasons": "list_suspension_reasons",
    "get /cs2/v1/matches": "list_matches",
    _MATCH: "get_match",
    f"{_MATCH}/markets": "list_match_markets",
    f"{_MATCH}/prematch": "get_match_prematch",
    f"{_MATCH}/rounds": "list_match_rounds",
    f"{_MATCH}/settlements": "list_match_settlements",
    f"{_MATCH}/summary": "get_match_summary",
    f"{_MATCH}/timeline": "list_match_events",
    "get /cs2/v1/players": "list_players",
    "get /cs2/v1/players/{player_id}": "get_player",
    "post /cs2/v1/recovery/initiate_request": "request_recovery",
    "get /cs2/v1/recovery/{request_id}": "get_recovery",
    "get /cs2/v1/search": "search_names",
    "post /cs2/v1/selfcheck": "compare_book",
    "get /cs2/v1/settlements": "list_settlements",
    "get /cs2/v1/teams": "list_teams",
    "get /cs2/v1/teams/{team_id}": "get_team",
    "get /cs2/v1/teams/{team_id}/extras": "get_team_extras",
    "get /cs2/v1/teams/{team_id}/h2h/{opponent_id}": "get_head_to_head",
    "get /cs2/v1/tournaments": "list_tournaments",
    "get /cs2/v1/tournaments/{tournament_id}": "get_tournament",
    "get /soccer/v1/competitors": "list_soccer_competitors",
    "get /soccer/v1/competitors/{competitor_id}": "get_soccer_competitor",
    "get /soccer/v1/tournaments": "list_soccer_tournaments",
    "get /soccer/v1/tournaments/{tournament_id}": "get_soccer_tournament",
    "get /v1/alive": "get_alive",
    "get /v1/asyncapi.json": "get_asyncapi",
    "get /v1/descriptions/producers": "get_facade_producers",
    "get /v1/descriptions/void_reasons": "get_facade_void_reasons",
    "get /v1/descriptions/{locale}/markets": "get_facade_markets",
    "get /v1/descriptions/{locale}/markets/{market_id}/variants/{variant}": "get_facade_market_variant",
    "get /v1/descriptions/{locale}/match_status": "get_facade_match_statuses",
    "get /v1/descriptions/{locale}/void_reasons": "get_facade_localised_void_reasons",
    "get /v1/docs": "get_docs",
    "get /v1/docs/console": "get_docs_console",
    "get /v1/docs/pushed": "get_docs_pushed",
    "get /v1/health": "get_health",
    "get /v1/openapi.json": "get_openapi",
    "get /v1/ready": "get_readiness",
    "get /v1/schemas/{name}": "get_schema",
    "get /v1/sports": "list_sports",
    f"{_LOCALE}/competitors/{{competitor_id}}/profile": "get_facade_competitor",
    f"{_LOCALE}/fixtures/changes": "get_facade_fixture_changes",
    f"{_LOCALE}/players/{{player_id}}/profile": "get_facade_player",
    f"{_LOCALE}/schedules/live/schedule": "get_facade_live_schedule",
    f"{_LOCALE}/schedules/pre/schedule": "get_facade_prematch_schedule",
    f"{_LOCALE}/schedules/{{day}}/schedule": "get_facade_day_schedule",
    f"{_LOCALE}/sport_events/{{event_id}}/fixture": "get_facade_fixture",
    f"{_LOCALE}/sport_events/{{event_id}}/summary": "get_facade_summary",
    f"{_LOCALE}/sports": "get_facade_sports",
    f"{_LOCALE}/sports/{{sport_id}}/tournaments": "get_facade_sport_tournaments",
    f"{_LOCALE}/tournaments": "get_facade_tournaments",
    f"{_LOCALE}/tournaments/{{tournament_id}}/info": "get_facade_tournament",
    "get /v1/users/whoami": "get_facade_whoami",
    "get /v1/whoami": "get_whoami",
    f"{_PRODUCT}/odds/events/{{event_id}}/initiate_request": "request_facade_event_odds",
    f"{_PRODUCT}/recovery/initiate_request": "request_facade_recovery",
    f"{_PRODUCT}/stateful_messages/events/{{event_id}}/initiate_request": "request_facade_event_results",
}


JSON, XML = "application/json", "application/xml"
_NOTHING = (Any, bytes, None, type(None), Empty)


class Route(msgspec.Struct, frozen=True):
    """One method of one path. `body` and `response` are the types of the request and response bodies, None
    for those that are not JSON; `draft` is the operation object that the framework would generate."""

    path: str
    method: str
    handler: HTTPRouteHandler
    draft: Json
    body: Any
    response: Any

    @property
    def status(self) -> str:
        """The status of a successful response."""
        return str(self.handler.status_code)

    @property
    def media(self) -> tuple[str, ...]:
        """The content types of that response. Bytes without a declared type are XML."""
        if only := self.opt.get("format"):
            return (str(only),)
        kind = self.handler.media_type
        if kind not in ("", JSON):
            return (kind.value if isinstance(kind, MediaType) else str(kind),)
        if self.response is None or self.path.endswith(XML_SUFFIX):
            return (XML,)
        return (JSON,) if self.opt.get("open") else (JSON, XML)

    @property
    def tagged(self) -> bool:
        """Whether its responses carry an `ETag`."""
        return self.method == "get" and bool({JSON, XML} & set(self.media))

    @property
    def takes(self) -> str:
        """The content type of its request body; empty without one."""
        return JSON if self.body is not None else self.opt.get("takes", "")

    @property
    def shapes(self) -> tuple[Any, ...]:
        """The types of its bodies: of the request, the response, and the response 202 of routes that have it
        beside another (`accepted`)."""
        return self.body, self.response, self.opt.get("accepted")

    @property
    def opt(self) -> dict[str, Any]:
        return self.handler.opt

    @property
    def name(self) -> str:
        """The operation's id: as listed above, otherwise made from method and path."""
        place = f"{self.method} {self.path.removesuffix(XML_SUFFIX)}"
        if known := OPERATION_IDS.get(place):
            return f"{known}_xml" if self.path.endswith(XML_SUFFIX) else known
        parts = [part for part in self.path.replace("{", "").replace("}", "").split("/") if part]
        return "_".join([self.method, *(part.replace(".", "_").replace("-", "_") for part in parts)])


def routes(handlers: Iterable[Any], dependencies: Iterable[str]) -> list[Route]:
    """Every route of `handlers`, in order of path; `dependencies` are the names of what is injected into
    them.

    The routes are read from an application that never serves: only an application knows its routes.
    """
    config = OpenAPIConfig(title="", version="", use_handler_docstrings=True)
    provided = {name: Provide(_placeholder()) for name in dependencies}
    apart = Litestar(list(handlers), dependencies=provided, openapi_config=config, logging_config=None)
    drafts = apart.openapi_schema.to_schema()["paths"]
    return sorted(_routes(apart, drafts), key=lambda route: (route.path, route.method))


def _placeholder() -> Callable[[], Awaitable[None]]:
    """A provider in the place of the real one; one for each name, because two may not share one."""

    async def nothing() -> None: ...

    return nothing


def _routes(app: Litestar, drafts: dict[str, Any]) -> Iterator[Route]:
    for route in app.routes:
        if not isinstance(route, HTTPRoute) or route.path_format not in drafts:
            continue
        for method, (handler, _) in route.route_handler_map.items():
            draft = None if method == "HEAD" else drafts[route.path_format].get(method.lower())
            if draft is not None:
                _set_bounds(draft, handler)
                for path in _paths(route.path_format, handler.opt):
                    yield Route(
                        path=path,
                        method=method.lower(),
                        handler=handler,
                        draft=draft,
                        body=_body(handler),
                        response=_response_type(handler),
                    )


def _paths(path: str, opt: dict[str, Any]) -> tuple[str, ...]:
    """The path, and its sibling where that is no route of its own: a path parameter at the end includes
    `.xml`."""
    return (path, path + XML_SUFFIX) if opt.get("sibling") and path.endswith("}") else (path,)


def _set_bounds(draft: Json, handler: HTTPRouteHandler) -> None:
    """Set the bounds of numbers in a draft as the route declares them: the framework turns some into floats,
    and omits others."""
    drafted = {one["name"]: one["schema"] for one in draft.get("parameters", ())}
    for key, field in handler.parsed_fn_signature.parameters.items():
        definition = field.kwarg_definition
        schema = drafted.get(getattr(definition, "name", None) or key)
        for bound, keyword in (("ge", "minimum"), ("le", "maximum")):
            value = getattr(definition, bound, None)
            if schema is not None and value is not None:
                schema[keyword] = value


def _body(handler: HTTPRouteHandler) -> Any:
    field = handler.parsed_fn_signature.parameters.get("data")
    return None if field is None else field.annotation


def _response_type(handler: HTTPRouteHandler) -> Any:
    """The type of the response body, from the return annotation."""
    returned = handler.parsed_fn_signature.return_type
    if returned.is_subclass_of(Response):
        inner = returned.inner_types[0].annotation if returned.inner_types else Any
        return None if inner in _NOTHING else inner
    return None if returned.annotation in _NOTHING else returned.annotation
