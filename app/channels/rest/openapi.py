"""The OpenAPI documents, and a page that shows them.

The documents need a key, as every path of the API does (operators have one of their own for `/ops/v1`);
tools that read them can send it. The page needs none, because a browser cannot send such a header, and it
shows nothing but the contract. Both are generated once per process, from the routes.
"""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from litestar import MediaType, Response
from litestar.di import NamedDependency

from app.http import pages
from app.http.handlers import get
from app.http.openapi.document import DocumentInfo, document
from app.http.openapi.page import page
from app.http.openapi.response_examples import recorded
from app.http.openapi.route_table import Route, routes
from app.http.representation import Format, ResponseBody
from app.http.response import RenderedResponse
from app.kit.version import VERSION

_OPERATORS = "/ops/"
_INTRODUCTION = Path(__file__).with_name("introduction.md").read_text()
PUBLIC = DocumentInfo("matchfeed", VERSION, _INTRODUCTION)
OPERATORS = DocumentInfo(
    "matchfeed, for operators",
    VERSION,
    "Matches, tenants, keys and the audit log. Every path needs an operator key, except the log sink, whose "
    "token is part of its URL.",
)
_ONLY_JSON: dict[str, Any] = {"format": Format.JSON}


class OpenApiDocuments(msgspec.Struct, frozen=True):
    """The documents and the page, ready to be sent."""

    public: ResponseBody
    operators: ResponseBody
    page: bytes


@cache
def generate_documents(
    handlers: tuple[Any, ...], dependencies: frozenset[str], products: tuple[str, ...]
) -> OpenApiDocuments:
    """The documents of `handlers`, which receive `dependencies` by name. `products` are the names by which a
    path may refer to the producer."""
    found = routes(handlers, dependencies)
    values, examples = {"product": products}, recorded()
    public = document(PUBLIC, [one for one in found if not _for_operators(one)], values, examples)
    operators = document(OPERATORS, [one for one in found if _for_operators(one)], values, examples)
    return OpenApiDocuments(_json(public), _json(operators), page(public).encode())


def _for_operators(route: Route) -> bool:
    return route.path.startswith(_OPERATORS)


def _json(made: dict[str, Any]) -> ResponseBody:
    return ResponseBody(msgspec.json.encode(made), Format.JSON)


@get("/v1/openapi.json", opt=_ONLY_JSON)
async def openapi(openapi_documents: NamedDependency[OpenApiDocuments]) -> RenderedResponse[dict[str, Any]]:
    """This document: OpenAPI 3.1."""
    return RenderedResponse(openapi_documents.public)


@get("/v1/docs", opt={"open": True}, media_type=MediaType.HTML)
async def docs(openapi_documents: NamedDependency[OpenApiDocuments]) -> Response[bytes]:
    """This document as a web page without external resources."""
    return pages.html_response(openapi_documents.page)


@get("/ops/v1/openapi.json", opt={"operator": True} | _ONLY_JSON)
async def operators_openapi(
    openapi_documents: NamedDependency[OpenApiDocuments],
) -> RenderedResponse[dict[str, Any]]:
    """The operators' API: OpenAPI 3.1."""
    return RenderedResponse(openapi_documents.operators)
