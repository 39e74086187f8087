"""Streams of server-sent events, which move a page by themselves (WHATWG HTML, 9.2).

htmx swaps the data of unnamed events into the element that has connected. On the event `ended` it closes the
connection for good; a stream that ends without it is connected again.
"""

from collections.abc import AsyncIterator

from litestar import Response
from litestar.response import Stream

from app.sites.pages.open_streams import OpenStreams
from app.sites.pages.people import SignedInRequest
from app.sites.pages.rendering import HEADERS

ENDED = b"event: ended\ndata:\n\n"
#: By this event both sides notice that the other has gone: a page says so after `SILENT_SECONDS` without any.
NOTHING_NEW = b"event: current\ndata:\n\n"
SILENT_SECONDS = 15
_MEDIA_TYPE = "text/event-stream"
#: The last one: proxies of the kind of nginx collect a response otherwise.
_HEADERS = HEADERS | {"X-Accel-Buffering": "no"}


def event(text: str) -> bytes:
    """An unnamed event with that text, of any number of lines."""
    return "".join(f"data: {line}\n" for line in text.split("\n")).encode() + b"\n"


def open_stream(
    request: SignedInRequest, streams: OpenStreams, events: AsyncIterator[bytes]
) -> Response[bytes] | Stream:
    """The response that sends these events; to a session that has all its streams open a refusal, after which
    htmx tries again later, ever more rarely."""
    if not streams.has_room(request.auth.session_id):
        return Response(b":\n\n", media_type=_MEDIA_TYPE, status_code=429, headers=_HEADERS)
    return stream_response(_nothing() if request.method == "HEAD" else events)


async def _nothing() -> AsyncIterator[bytes]:
    yield b""


def stream_response(events: AsyncIterator[bytes]) -> Stream:
    """The response that sends these events; it ends with them, or when the client leaves."""
    return Stream(events, media_type=_MEDIA_TYPE, headers=_HEADERS)


def ended_response() -> Response[bytes]:
    """The response to a client without a session, which is to connect no more."""
    return Response(ENDED, media_type=_MEDIA_TYPE, headers=_HEADERS)
