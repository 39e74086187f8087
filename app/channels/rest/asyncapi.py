"""The AsyncAPI 3.0 document of what is published over AMQP and WebSocket, which needs a key, and a page that
shows it, which needs none."""

from typing import Any
from urllib.parse import urlsplit

import msgspec
from litestar import MediaType, Response
from litestar.di import NamedDependency

from app.http import pages
from app.http.asyncapi.document import Json, joined
from app.http.asyncapi.page import page
from app.http.handlers import get
from app.http.publisher import CONTACT, LICENCE
from app.http.representation import Format, ResponseBody
from app.http.response import RenderedResponse
from app.kit.version import VERSION

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
async def asyncapi(asyncapi_document: NamedDependency[AsyncApiDocument]) -> RenderedResponse[dict[str, Any]]:
    """What is published over AMQP and WebSocket: AsyncAPI 3.0."""
    return RenderedResponse(asyncapi_document.body)


@get("/v1/docs/pushed", opt={"open": True}, media_type=MediaType.HTML)
async def asyncapi_page(asyncapi_document: NamedDependency[AsyncApiDocument]) -> Response[bytes]:
    """The AsyncAPI document as a web page without external resources."""
    return pages.html_response(asyncapi_document.page)
