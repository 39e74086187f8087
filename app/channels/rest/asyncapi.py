"""The AsyncAPI 3.0 document of what is published over AMQP and WebSocket, which needs a key, and a page that
shows it, which needs none: no scripts, no external resources. The document is joined from the parts that the
channels provide.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from litestar import MediaType, Response
from litestar.di import NamedDependency

from app.http import pages
from app.http.handlers import get
from app.http.openapi.document import CONTACT, LICENCE
from app.http.representation import Format, ResponseBody
from app.http.response import RenderedResponse
from app.kit.version import VERSION

Json = dict[str, Any]
_SECTIONS = ("servers", "channels", "operations")
_DESCRIPTION = (
    "What matchfeed pushes: XML envelopes to each tenant's AMQP vhost, and JSON frames over WebSocket. "
    'After a connect, a silence or alive with subscribed="0", request a recovery over REST.'
)
_INFO: Json = {
    "title": "matchfeed, pushed",
    "version": VERSION,
    "description": _DESCRIPTION,
    "tags": [
        {"name": "AMQP", "description": "XML envelopes, to each tenant's vhost."},
        {"name": "WebSocket", "description": "JSON frames."},
    ],
}


class AsyncApiDocument(msgspec.Struct, frozen=True):
    """The document and the page, ready to be sent."""

    body: ResponseBody
    page: bytes


def generate_document(public_url: str, contact_email: str, *parts: Json) -> AsyncApiDocument:
    """The document that these parts make up. `public_url` is the REST service, which shows the licence."""
    url = public_url.rstrip("/")
    contact = CONTACT | {"url": f"{url}/portal", "email": contact_email}
    info = _INFO | {"contact": contact, "license": LICENCE | {"url": f"{url}/v1/docs"}}
    document = joined(info, *parts)
    return AsyncApiDocument(ResponseBody(msgspec.json.encode(document), Format.JSON), page(document).encode())


def with_stream_server(part: Json, public_url: str) -> Json:
    """The stream's part, with its server: the host of the REST service."""
    address = urlsplit(public_url)
    protocol = "wss" if address.scheme == "https" else "ws"
    server = {
        "host": address.netloc,
        "protocol": protocol,
        "description": "JSON frames.",
        "security": [{"$ref": "#/components/securitySchemes/streamKey"}],
    }
    return {"servers": {"stream": server}, **part}


@get("/v1/asyncapi.json", opt={"format": Format.JSON})
async def get_asyncapi(
    asyncapi_document: NamedDependency[AsyncApiDocument],
) -> RenderedResponse[dict[str, Any]]:
    """What is published over AMQP and WebSocket: AsyncAPI 3.0."""
    return RenderedResponse(asyncapi_document.body)


@get("/v1/docs/pushed", opt={"open": True}, media_type=MediaType.HTML)
async def get_docs_pushed(asyncapi_document: NamedDependency[AsyncApiDocument]) -> Response[bytes]:
    """The AsyncAPI document as a web page without external resources."""
    return pages.html_response(asyncapi_document.page)


def joined(info: Json, *parts: Json) -> Json:
    """One document from several parts; raises `ValueError` if two use the same name."""
    document: Json = {"asyncapi": "3.0.0", "info": info, "defaultContentType": "application/xml"}
    for section in _SECTIONS:
        document[section] = _merged(part.get(section, {}) for part in parts)
    kinds = sorted({kind for part in parts for kind in part["components"]})
    document["components"] = {
        kind: _merged(part["components"].get(kind, {}) for part in parts) for kind in kinds
    }
    return document


def _merged(parts: Any) -> Json:
    merged: Json = {}
    for part in parts:
        if twice := merged.keys() & part.keys():
            raise ValueError(f"named twice: {', '.join(sorted(twice))}")
        merged |= part
    return merged


def page(document: Json) -> str:
    """The page, as HTML."""
    filters = {"kind": kind, "fields": fields}
    return pages.render(Path(__file__).with_name("asyncapi.html"), filters, document=document, last=_last)


def _last(reference: Json) -> str:
    return str(reference["$ref"]).rsplit("/", 1)[-1]


def kind(shape: Json) -> str:
    """The type of a value, in short."""
    if "$ref" in shape:
        return _last(shape)
    if shape.get("type") == "array":
        return f"list of {kind(shape.get('items', {}))}"
    if "const" in shape:
        return f"always {shape['const']!r}"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in shape:
            return " or ".join(kind(one) for one in shape[several] if one)
    if "enum" in shape:
        return f"{', '.join(map(str, shape['enum']))}"
    types = shape.get("type", "any")
    return " or ".join(types) if isinstance(types, list) else str(types)


def fields(shape: Json) -> list[tuple[str, str, str, bool]]:
    """Name, type and description of each property, and whether it is required."""
    required = set(shape.get("required", ()))
    return [
        (name, kind(each), each.get("description", ""), name in required)
        for name, each in shape.get("properties", {}).items()
    ]
