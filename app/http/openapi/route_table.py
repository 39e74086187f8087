"""The routes as the framework sees them: paths, methods, parameters and types."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

import msgspec
from litestar import Litestar, MediaType, Response
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.routes import HTTPRoute
from litestar.types import Empty

from app.http.openapi.schemas import Json
from app.http.request_guard import SIBLING

JSON, XML = "application/json", "application/xml"
_NOTHING = (Any, bytes, None, type(None), Empty)


class Route(msgspec.Struct, frozen=True):
    """One method of one path. `body` and `answer` are the types of what goes in and comes out, None where
    that is no JSON; `draft` is what the framework would write about it."""

    path: str
    method: str
    handler: HTTPRouteHandler
    draft: Json
    body: Any
    answer: Any

    @property
    def status(self) -> str:
        """What it answers when all is well."""
        return str(self.handler.status_code)

    @property
    def media(self) -> tuple[str, ...]:
        """The content types of that answer. Bytes of which nothing is told are XML."""
        if only := self.opt.get("format"):
            return (str(only),)
        kind = self.handler.media_type
        if kind not in ("", JSON):
            return (kind.value if isinstance(kind, MediaType) else str(kind),)
        if self.answer is None or self.path.endswith(SIBLING):
            return (XML,)
        return (JSON,) if self.opt.get("open") else (JSON, XML)

    @property
    def tagged(self) -> bool:
        """Whether its answers carry an `ETag`."""
        return self.method == "get" and bool({JSON, XML} & set(self.media))

    @property
    def takes(self) -> str:
        """The content type of its body, if it takes one."""
        return JSON if self.body is not None else self.opt.get("takes", "")

    @property
    def opt(self) -> dict[str, Any]:
        return self.handler.opt

    @property
    def name(self) -> str:
        """The operation's id: what it is addressed by, so that it stays as long as the address does."""
        words = [word for word in self.path.replace("{", "").replace("}", "").split("/") if word]
        return "_".join([self.method, *(word.replace(".", "_").replace("-", "_") for word in words)])


def routes(handlers: Iterable[Any], dependencies: Iterable[str]) -> list[Route]:
    """Every route of `handlers`, in order of path; `dependencies` are the names of what they are handed.

    An application of its own is made of them, which never serves: only an application knows its routes.
    """
    config = OpenAPIConfig(title="", version="", use_handler_docstrings=True)
    provided = {name: Provide(_stand_in()) for name in dependencies}
    apart = Litestar(list(handlers), dependencies=provided, openapi_config=config, logging_config=None)
    drafts = apart.openapi_schema.to_schema()["paths"]
    return sorted(_routes(apart, drafts), key=lambda route: (route.path, route.method))


def _stand_in() -> Callable[[], Awaitable[None]]:
    """What stands where the real application provides something; one each, for two may not share one."""

    async def nothing() -> None: ...

    return nothing


def _routes(app: Litestar, drafts: dict[str, Any]) -> Iterator[Route]:
    for route in app.routes:
        if not isinstance(route, HTTPRoute) or route.path_format not in drafts:
            continue
        for method, (handler, _) in route.route_handler_map.items():
            draft = drafts[route.path_format].get(method.lower())
            if draft is not None:
                _bound(draft, handler)
                for path in _addresses(route.path_format, handler.opt):
                    yield Route(
                        path=path,
                        method=method.lower(),
                        handler=handler,
                        draft=draft,
                        body=_body(handler),
                        answer=_answer(handler),
                    )


def _addresses(path: str, opt: dict[str, Any]) -> tuple[str, ...]:
    """A sibling whose address ends in a parameter is no route of its own: the parameter brings the ending."""
    return (path, path + SIBLING) if opt.get("sibling") and path.endswith("}") else (path,)


def _bound(draft: Json, handler: HTTPRouteHandler) -> None:
    """Put the bounds of numbers into a draft as the route names them: the framework makes floats of some,
    and leaves others out."""
    drafted = {one["name"]: one["schema"] for one in draft.get("parameters", ())}
    for key, field in handler.parsed_fn_signature.parameters.items():
        told = field.kwarg_definition
        schema = drafted.get(getattr(told, "name", None) or key)
        for bound, word in (("ge", "minimum"), ("le", "maximum")):
            value = getattr(told, bound, None)
            if schema is not None and value is not None:
                schema[word] = value


def _body(handler: HTTPRouteHandler) -> Any:
    field = handler.parsed_fn_signature.parameters.get("data")
    return None if field is None else field.annotation


def _answer(handler: HTTPRouteHandler) -> Any:
    """The type behind the return annotation: what a response is a response of."""
    returned = handler.parsed_fn_signature.return_type
    if returned.is_subclass_of(Response):
        inner = returned.inner_types[0].annotation if returned.inner_types else Any
        return None if inner in _NOTHING else inner
    return None if returned.annotation in _NOTHING else returned.annotation
