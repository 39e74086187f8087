"""The stream as server-sent events (WHATWG HTML, 9.2): each frame is an event with its type, its seq as the
id, and the frame itself as the data.

The frames of a snapshot have no id: a client that is cut off in the middle of one resumes where it was
before, and receives a snapshot again. When the service ends a stream, the event `closed` says why: its data
has the close code and the reason that a WebSocket would be closed with.
"""

import asyncio
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, cast

import msgspec
from litestar import Request, Response
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send

from app.channels.stream.connection import (
    STOPPING,
    AsgiTransport,
    CloseCode,
    StreamConnection,
    frame_payloads,
)
from app.channels.stream.subscriptions import CHANGED, StreamRequest, Subscriptions
from app.domain.frame_types import ALIVE
from app.http.representation import VARY, Format
from app.http.server import connection_of
from app.kit.errors import Unavailable
from app.wire.views.changes import ChangePage

#: How long a client waits before it connects again (ms), unless it has its own rule.
_BEGIN = b"retry: 1000\n\n"
#: How long a client may take to read the end of its stream: less than the server waits when it stops.
_LINGER_SECONDS = 2.5
_HEADERS = [
    (b"content-type", Format.EVENTS.value.encode()),
    (b"cache-control", b"no-store"),
    (b"vary", VARY.encode()),
    (b"connection", b"close"),
    (b"x-accel-buffering", b"no"),  # proxies of the kind of nginx collect a response otherwise
]


class _Meta(msgspec.Struct):
    seq: int
    snapshot: bool = False


class _Head(msgspec.Struct):
    """What of a frame its event repeats."""

    type: str
    meta: _Meta


_decode_head = msgspec.json.Decoder(_Head).decode


@lru_cache(maxsize=32)
def events_of(wire: bytes) -> bytes:
    """Encoded frames as events. Clients with the same entitlements are sent the same bytes: they are made
    once for those that are sent them at one time."""
    return b"".join(map(_event, frame_payloads(wire)))


def _event(payload: bytes) -> bytes:
    head = _decode_head(payload)
    part_of_snapshot = head.meta.snapshot and head.type != ALIVE
    name = b"" if part_of_snapshot else b"id: %d\n" % head.meta.seq
    return b"%bevent: %b\ndata: %b\n\n" % (name, head.type.encode(), payload)


class EventTransport(AsgiTransport):
    """Sends events in the body of an HTTP response. `begin` must have been called; before that, nothing is
    sent. A client that does not read the end of its stream is cut off by `abort`."""

    def __init__(self, send: Send, abort: Callable[[], None]) -> None:
        super().__init__(send)
        self._abort = abort
        self._begun = False

    def begin(self) -> None:
        """The response has begun."""
        self._begun = True
        self._put(_body(_BEGIN))

    def write(self, wire: bytes) -> None:
        self._put(_body(events_of(wire)))

    def finish(self, code: int, reason: str) -> None:
        if self._begun:
            reason_sent = msgspec.json.encode({"code": int(code), "reason": reason})
            self._finish(_body(b"event: closed\ndata: %b\n\n" % reason_sent, more=False))
            asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._abort)


def _body(content: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": more}


class EventStream(Response[ChangePage]):
    """The response that sends changes as events, until either side ends it."""

    def __init__(self, subscriptions: Subscriptions, request: StreamRequest) -> None:
        super().__init__(cast(Any, b""), media_type=Format.EVENTS.value)
        self._parts = subscriptions, request

    def to_asgi_response(self, app: object, request: Request[Any, Any, Any], **options: Any) -> ASGIResponse:
        return _EventResponse(*self._parts)


class _EventResponse(ASGIResponse):
    __slots__ = ("_request", "_subscriptions")

    def __init__(self, subscriptions: Subscriptions, request: StreamRequest) -> None:
        super().__init__(status_code=200)
        self._subscriptions, self._request = subscriptions, request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "HEAD":
            await _start(send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        http = connection_of(scope)
        transport = EventTransport(send, http.abort if http else _nothing)
        connection = StreamConnection(self._request.presented, transport, self._subscriptions.config.backlog)

        async def accept() -> None:
            if connection.closed:  # the key has just ended
                raise Unavailable(CHANGED, retry_after=1)
            await _start(send)
            if http:
                http.become_stream()
                http.on_shutdown = lambda: connection.close(CloseCode.GOING_AWAY, STOPPING)
            transport.on_drained = connection.flush
            transport.begin()

        try:
            await self._subscriptions.stream(connection, self._request, accept, partial(until_left, receive))
            await until_left(receive)
        finally:
            if http:
                http.on_shutdown = None


async def until_left(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _start(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})


def _nothing() -> None:
    """How a connection is cut off under a server that has no way to."""
