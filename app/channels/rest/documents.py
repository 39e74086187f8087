"""The descriptions of what is requested: the OpenAPI documents, a page that shows them, and the XML schemas.

The documents need a key, as every path of the API does (operators have one of their own for `/ops/v1`);
tools that read them can send it. The page needs none, because a browser cannot send such a header, and it
shows nothing but the contract: no scripts, no external resources. All are generated once per process, from
the routes, for the first request.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec
from litestar import MediaType, Response
from litestar.di import NamedDependency
from litestar.params import FromPath
from markupsafe import Markup, escape

from app.http import pages
from app.http.handlers import get
from app.http.openapi.document import DocumentInfo, document, recorded_examples
from app.http.openapi.routes import routes
from app.http.openapi.schemas import Json
from app.http.representation import Format, ResponseBody
from app.http.response import RenderedResponse
from app.kit.errors import NotFound
from app.kit.version import VERSION

_INTRODUCTION = Path(__file__).with_name("introduction.md").read_text()
PUBLIC = DocumentInfo("matchfeed", VERSION, _INTRODUCTION)
OPERATORS = DocumentInfo(
    "matchfeed, for operators",
    VERSION,
    "Matches, tenants, keys and the audit log. Every path needs an operator key, except the log sink, whose "
    "token is part of its URL.",
)
_ONLY_JSON: dict[str, Any] = {"format": Format.JSON}
#: Read once: the schemas belong to the build, as the generated writers do.
_SCHEMAS = {
    file.name: ResponseBody(file.read_bytes(), Format.XML)
    for file in sorted(files("app").joinpath("schemas").iterdir(), key=lambda file: file.name)
    if file.name.endswith(".xsd")
}
_GENERATING = Lock()
_CODE = re.compile(r"`([^`]+)`")
_STRONG = re.compile(r"\*\*([^*]+)\*\*")
_LIMITS = {
    "minimum": "from {}",
    "maximum": "to {}",
    "minLength": "{} characters or more",
    "maxLength": "{} characters at most",
    "minItems": "{} or more",
    "maxItems": "{} at most",
    "pattern": "{}",
    "default": "default {}",
}


class OpenApiDocuments(msgspec.Struct, frozen=True):
    """The documents and the page, ready to be sent."""

    public: ResponseBody
    operators: ResponseBody
    page: bytes


@get("/v1/openapi.json", opt=_ONLY_JSON)
async def get_openapi(
    openapi_documents: NamedDependency[OpenApiDocuments],
) -> RenderedResponse[dict[str, Any]]:
    """This document: OpenAPI 3.1."""
    return RenderedResponse(openapi_documents.public)


@get("/v1/docs", opt={"open": True}, media_type=MediaType.HTML)
async def get_docs(openapi_documents: NamedDependency[OpenApiDocuments]) -> Response[bytes]:
    """This document as a web page without external resources."""
    return pages.html_response(openapi_documents.page)


@get("/ops/v1/openapi.json", opt={"operator": True} | _ONLY_JSON)
async def operators_openapi(
    openapi_documents: NamedDependency[OpenApiDocuments],
) -> RenderedResponse[dict[str, Any]]:
    """The operators' API: OpenAPI 3.1."""
    return RenderedResponse(openapi_documents.operators)


@get("/v1/schemas/{name:str}", opt={"format": Format.XML})
async def get_schema(name: FromPath[str]) -> RenderedResponse[Any]:
    """One schema file, the very one from which the service's XML is generated."""
    if name not in _SCHEMAS:
        raise NotFound(f"There is no schema {name!r}; there are {', '.join(_SCHEMAS)}.")
    return RenderedResponse(_SCHEMAS[name])


def generate_documents(
    handlers: tuple[Any, ...], dependencies: frozenset[str], products: tuple[str, ...]
) -> OpenApiDocuments:
    """The documents of `handlers`, which receive `dependencies` by name. `products` are the names by which a
    path may refer to the producer. Threads that need them at one time wait for the first."""
    with _GENERATING:
        return generated(handlers, dependencies, products)


@cache
def generated(
    handlers: tuple[Any, ...], dependencies: frozenset[str], products: tuple[str, ...]
) -> OpenApiDocuments:
    """See `generate_documents`."""
    found = routes(handlers, dependencies)
    values, examples = {"product": products}, recorded_examples()
    public = document(PUBLIC, [one for one in found if not one.for_operators], values, examples)
    operators = document(OPERATORS, [one for one in found if one.for_operators], values, examples)
    return OpenApiDocuments(_json(public), _json(operators), page(public).encode())


def _json(made: dict[str, Any]) -> ResponseBody:
    return ResponseBody(msgspec.json.encode(made), Format.JSON)


def page(document: Json) -> str:
    """The page, as HTML."""
    return pages.render(
        Path(__file__).with_name("openapi.html"),
        {"prose": prose, "inline": inline, "kind": kind, "limits": limits, "pretty": pretty},
        document=document,
        groups=list(_groups(document)),
        schemas=document["components"]["schemas"],
        follow=lambda node: _followed(document, node),
    )


def _groups(document: Json) -> Iterator[tuple[str, list[Json]]]:
    """Each tag's operations, with their path and method."""
    for tag in document["tags"]:
        found = [
            operation | {"path": path, "method": method}
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
            if tag["name"] in operation["tags"]
        ]
        yield tag["name"], found


def _followed(document: Json, node: Json) -> Json:
    """The target of a reference; any other node as it is."""
    if "$ref" not in node:
        return node
    found: Any = document
    for part in node["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


def prose(text: str) -> Markup:
    """Paragraphs, dashed lists, `code` and **strong** as HTML."""
    return Markup("").join(_block(block) for block in re.split(r"\n\s*\n", text.strip()))


def _block(text: str) -> Markup:
    lines = text.splitlines()
    if all(line.startswith("- ") for line in lines):
        items = Markup("").join(Markup("<li>{}</li>").format(inline(line[2:])) for line in lines)
        return Markup("<ul>{}</ul>").format(items)
    if text.startswith("## "):
        return Markup("<h3>{}</h3>").format(inline(text[3:]))
    return Markup("<p>{}</p>").format(inline(text))


def inline(text: str) -> Markup:
    """`code` and **strong** as HTML."""
    marked = _CODE.sub(r"<code>\1</code>", str(escape(text)))
    return Markup(_STRONG.sub(r"<strong>\1</strong>", marked))  # noqa: S704 - escaped above


def kind(schema: Json) -> Markup:
    """The type that a schema describes, in short, with links to named schemas."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="#schema-{0}">{0}</a>').format(name)
    for several in ("allOf", "anyOf", "oneOf"):
        if several in schema:
            return Markup(" or ").join(map(kind, schema[several]))
    if "enum" in schema:
        return Markup(" | ").join(Markup("<code>{}</code>").format(value) for value in schema["enum"])
    if schema.get("type") == "array":
        return Markup("list of {}").format(kind(schema.get("items", {})))
    if isinstance(schema.get("additionalProperties"), dict):
        return Markup("object of {}").format(kind(schema["additionalProperties"]))
    parts = [str(schema.get("type", "anything")), schema.get("format", "")]
    return Markup("{}").format(" ".join(filter(None, parts)))


def limits(schema: Json) -> str:
    """The bounds of a schema's values, as text."""
    bounds = [text.format(schema[key]) for key, text in _LIMITS.items() if schema.get(key) is not None]
    return ", ".join(bounds)


def pretty(example: Any) -> str:
    """An example, indented if it is JSON."""
    if isinstance(example, str):
        return example
    return msgspec.json.format(msgspec.json.encode(example), indent=2).decode()
