"""The routes as the framework registers them: paths, methods (GET for HEAD, too), parameters, types and tags.

The id of a public operation is the name of its handler: generated clients name their methods after it, and it
stays as long as the operation exists. The ids of operators' operations are made from method and path.
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
from app.kit.csv_rows import CSV

JSON, XML = "application/json", "application/xml"
EVENTS = "text/event-stream"
_MORE = {"csv_response": CSV, "event_stream": EVENTS}  #: beside JSON and XML, by what a route's `opt` has
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
        if self.sends_files:
            return tuple(self.opt["file_response"])
        kind = self.handler.media_type
        if kind not in ("", JSON):
            return (kind.value if isinstance(kind, MediaType) else str(kind),)
        if self.response is None or self.path.endswith(XML_SUFFIX):
            return (XML,)
        if self.opt.get("open"):
            return (JSON,)
        more = [kind for name, kind in _MORE.items() if name in self.opt]
        return (JSON, XML, *more)

    @property
    def tagged(self) -> bool:
        """Whether its responses carry an `ETag`."""
        return self.method == "get" and (self.sends_files or bool({JSON, XML} & set(self.media)))

    @property
    def sends_files(self) -> bool:
        """Whether it sends files as they are, and parts of them."""
        return "file_response" in self.opt

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
    def for_operators(self) -> bool:
        return self.path.startswith("/ops/")

    @property
    def name(self) -> str:
        """The operation's id."""
        if self.for_operators:
            parts = [part for part in self.path.replace("{", "").replace("}", "").split("/") if part]
            return "_".join([self.method, *(part.replace(".", "_").replace("-", "_") for part in parts)])
        name: str = self.handler.fn.__name__
        return f"{name}_xml" if self.path.endswith(XML_SUFFIX) else name


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


_PREFIXES = {"cs2": "Counter-Strike 2", "soccer": "Soccer", "ops": "Operators"}
_SERVICE, _FACADE = "Service", "Compatibility facade"
#: By name; a test checks that each tag has one.
_DESCRIPTIONS = {
    _SERVICE: "The service itself: its state, this documentation, the sports, what a key may do.",
    "Counter-Strike 2: changes": "Everything that changes, as it changes: what the stream sends, over HTTP.",
    "Counter-Strike 2: claims": "Claims that a result is wrong, and what becomes of them.",
    "Counter-Strike 2: combinations": "Prices of several markets together, and how they stand.",
    "Counter-Strike 2: maps": "Maps of the game, and the pool that is played.",
    "Counter-Strike 2: markets": "The catalogue: market types, reasons of suspensions, how prices are meant.",
    "Counter-Strike 2: matches": "Matches, live and past: score, rounds, events, markets, settlements.",
    "Counter-Strike 2: players": "Players and their teams.",
    "Counter-Strike 2: recovery": "Replays of the present state and of missed results over AMQP.",
    "Counter-Strike 2: replay": "Matches that are over, published once more as they were published then.",
    "Counter-Strike 2: search": "Matches, teams, players and tournaments by a part of their name.",
    "Counter-Strike 2: selfcheck": "Compares your book with ours.",
    "Counter-Strike 2: settlements": "The ledger of results, voids and rollbacks, in order.",
    "Counter-Strike 2: teams": "Teams, their rosters and results.",
    "Counter-Strike 2: tournaments": "Tournaments and their matches.",
    "Soccer: competitors": "Soccer teams: reference data.",
    "Soccer: matches": "Soccer matches: fixtures and results, without prices.",
    "Soccer: tournaments": "Soccer tournaments: reference data and standings.",
    _FACADE: "The paths and XML that clients of the established odds feed use.",
    "Operators: alerts": "What needs an operator: list, take, end.",
    "Operators: claims": "Claims of tenants that a result is wrong: take, answer, uphold.",
    "Operators: consents": "Commands that wait for a second operator.",
    "Operators: feed": "Delivery to tenants, as it stands.",
    "Operators: incidents": "Incidents that everybody reads: list, add words.",
    "Operators: maintenance": "Maintenance that everybody reads: announce, cancel.",
    "Operators: matches": "Matches: announce, correct, suspend, settle, trade; their log sinks.",
    "Operators: metrics": "Metrics for Prometheus.",
    "Operators: openapi.json": "This document.",
    "Operators: profiles": "Profiles: how tenants' own odds follow from the model's probabilities.",
    "Operators: ratings": "The strength of teams.",
    "Operators: reference": "Reference data and fixtures: import them, see what imports did.",
    "Operators: references": "Reference prices of the market.",
    "Operators: reports": "Our prices beside the market's, by what came.",
    "Operators: tenants": "Tenants: their keys, bookings, market types, profile and audit log.",
    "Operators: trim": "Removes finished matches of a sandbox.",
}


def tag(route: Route) -> str:
    """The tag of a route: the part of the service that it belongs to."""
    first, _, rest = route.path.strip("/").partition("/")
    if first in _PREFIXES:
        noun = rest.partition("/")[2].partition("/")[0].removesuffix(".xml")
        return f"{_PREFIXES[first]}: {noun}"
    return _FACADE if route.opt.get("any_query") else _SERVICE


def tags(routes: Iterable[Route]) -> list[Json]:
    """The tags that these routes have: what concerns every key first, the facade last."""
    names = sorted({tag(route) for route in routes}, key=_rank)
    return [{"name": name, "description": _DESCRIPTIONS[name]} for name in names]


def _rank(name: str) -> tuple[int, str]:
    return (0 if name == _SERVICE else 2 if name == _FACADE else 1), name
