"""What is pushed, as a document: AsyncAPI 3.0, which needs a key, and a page for people, which needs none."""

from typing import Any
from urllib.parse import urlsplit

import msgspec
from litestar import MediaType, Response, get
from litestar.di import NamedDependency

from app.http import pages
from app.http.answer import Answer, Body
from app.http.asyncapi.document import Json, joined
from app.http.asyncapi.page import page
from app.http.media import Format
from app.kit.version import VERSION

_DESCRIPTION = (
    "What matchfeed pushes: XML envelopes to each tenant's AMQP vhost, and JSON frames over WebSocket. "
    'After a connect, a silence or alive with subscribed="0", ask for a recovery over REST.'
)
_INFO = {"title": "matchfeed, pushed", "version": VERSION, "description": _DESCRIPTION}


class Pushed(msgspec.Struct, frozen=True):
    """Ready to be sent."""

    body: Body
    page: bytes


def pushed(*halves: Json) -> Pushed:
    """The document that these halves make."""
    document = joined(_INFO, *halves)
    return Pushed(Body(msgspec.json.encode(document), Format.JSON), page(document).encode())


def at_stream(half: Json, public_url: str) -> Json:
    """The stream's half, with its server: where the REST service is too."""
    address = urlsplit(public_url)
    protocol = "wss" if address.scheme == "https" else "ws"
    server = {"host": address.netloc, "protocol": protocol, "description": "JSON frames."}
    return {"servers": {"stream": server}, **half}


@get("/v1/asyncapi.json", opt={"format": Format.JSON})
async def asyncapi(pushed: NamedDependency[Pushed]) -> Answer[dict[str, Any]]:
    """What is pushed over AMQP and WebSocket: AsyncAPI 3.0."""
    return Answer(pushed.body)


@get("/v1/docs/pushed", opt={"open": True}, media_type=MediaType.HTML)
async def asyncapi_page(pushed: NamedDependency[Pushed]) -> Response[bytes]:
    """What is pushed, as a page for people. It fetches nothing from anywhere."""
    return pages.shown(pushed.page)


HANDLERS = (asyncapi, asyncapi_page)
