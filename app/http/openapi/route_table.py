"""The routes as the framework registers them: paths, methods (GET for HEAD, too), parameters and types."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

import msgspec
from litestar import Litestar, MediaType, Response
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.routes import HTTPRoute
from litestar.types import Empty

from app.http.openapi.operation_ids import OPERATION_IDS
from app.http.openapi.schemas import Json
from app.http.request_guard import XML_SUFFIX

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
        """The operation's id: as `operation_ids` lists it, otherwise made from method and path."""
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
