"""What the service says about itself: OpenAPI documents and a page for people.

The documents need a key, as every address of the API does (operators have one of their own about
`/ops/v1`); tools that read them can send it. The page is open, for a browser can send no such header, and
it tells nothing but the contract. Both are made once a process, from the routes.
"""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from litestar import MediaType, Response, get
from litestar.di import NamedDependency

from app.http import pages
from app.http.answer import Answer, Body
from app.http.media import Format
from app.http.openapi.document import About, document
from app.http.openapi.examples import recorded
from app.http.openapi.outline import Route, routes
from app.http.openapi.page import page
from app.kit.version import VERSION

_OPERATORS = "/ops/"
_INTRODUCTION = Path(__file__).with_name("introduction.md").read_text()
PUBLIC = About("matchfeed", VERSION, _INTRODUCTION)
OPERATORS = About(
    "matchfeed, for operators",
    VERSION,
    "Matches, tenants, keys and the record of what was done. Every address needs an operator key, but the "
    "log sink, whose token stands in its address.",
)
_ONLY_JSON: dict[str, Any] = {"format": Format.JSON}


class Documents(msgspec.Struct, frozen=True):
    """Ready to be sent."""

    public: Body
    operators: Body
    page: bytes


@cache
def documents(
    handlers: tuple[Any, ...], dependencies: frozenset[str], products: tuple[str, ...]
) -> Documents:
    """The documents about `handlers`, which take `dependencies` by name. `products` are what the producer
    is called."""
    found = routes(handlers, dependencies)
    values, examples = {"product": products}, recorded()
    public = document(PUBLIC, [one for one in found if not _for_operators(one)], values, examples)
    operators = document(OPERATORS, [one for one in found if _for_operators(one)], values, examples)
    return Documents(_json(public), _json(operators), page(public).encode())


def _for_operators(route: Route) -> bool:
    return route.path.startswith(_OPERATORS)


def _json(made: dict[str, Any]) -> Body:
    return Body(msgspec.json.encode(made), Format.JSON)


@get("/v1/openapi.json", opt=_ONLY_JSON)
async def openapi(documents: NamedDependency[Documents]) -> Answer[dict[str, Any]]:
    """This document: OpenAPI 3.1."""
    return Answer(documents.public)


@get("/v1/docs", opt={"open": True}, media_type=MediaType.HTML)
async def docs(documents: NamedDependency[Documents]) -> Response[bytes]:
    """This document as a page for people. It fetches nothing from anywhere."""
    return pages.shown(documents.page)


@get("/ops/v1/openapi.json", opt={"operator": True} | _ONLY_JSON)
async def operators_openapi(documents: NamedDependency[Documents]) -> Answer[dict[str, Any]]:
    """What operators may ask for: OpenAPI 3.1."""
    return Answer(documents.operators)


HANDLERS = (openapi, docs, operators_openapi)
