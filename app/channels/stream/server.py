"""The addresses of the WebSocket stream, and the server that accepts its connections.

Any key of the sport may connect; its scopes decide what it receives. An upgrade request must pass checks of
its origin, rate, key, sport and parameters. The key is the query parameter `api_key`; headers do not count,
because browsers cannot send them. Addresses with too many refused requests are rejected as on REST, and both
share one count.
"""

import asyncio
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

from litestar import WebSocket, websocket
from litestar.di import NamedDependency
from litestar.exceptions import WebSocketDisconnect
from litestar.params import FromPath
from litestar.types import Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected

from app.access.grants import Grants, PresentedKey
from app.access.rate_limit import UnauthenticatedLimiter, authenticate_key
from app.channels.stream.connection import (
    EXTENSION,
    AsgiTransport,
    CloseCode,
    RawFrameProtocol,
    StreamConnection,
)
from app.channels.stream.subscriptions import REVOKED, StreamRequest, Subscriptions
from app.http.auth import authorize, client_address
from app.http.headers import request_id
from app.http.listeners import internal_error, refuse
from app.http.request_data import pairs_of, refuse_long, refuse_nul_in_path, unknown, with_nul
from app.kit.errors import (
    BadRequest,
    Field,
    Forbidden,
    Invalid,
    Refusal,
    Unauthenticated,
    with_others,
)
from app.kit.logging import bind, get_logger

KEY, SINCE = "api_key", "since"
_MOST_DIGITS = 18
log = get_logger(__name__)
_OPT: dict[str, Any] = {"sport": "cs2"}
Socket = WebSocket[Any, Any, Any]


async def authenticate(scope: Scope, grants: Grants, limiter: UnauthenticatedLimiter) -> PresentedKey:
    """The client's key and what it grants; raises the refusal."""
    refuse_long(scope)
    address = client_address(scope)
    grant = await authenticate_key(grants, limiter, address, partial(api_key, scope))
    authorize(grant, scope["route_handler"].opt)
    refuse_nul_in_path(scope)
    return PresentedKey(grant, address)


def api_key(scope: Scope) -> str:
    """The key in the query; raises `Unauthenticated` for none, `BadRequest` for two."""
    keys = set(_parameter(scope, KEY)) - {""}
    if not keys:
        raise Unauthenticated("Send your API key as the query parameter api_key.")
    if len(keys) > 1:
        raise BadRequest("The query carries different keys as api_key: send one.")
    return keys.pop()


def resume_seq(scope: Scope) -> int | None:
    """The seq after which a client resumes (`since`), None when it starts afresh; raises `Invalid` naming
    everything that is wrong in the query."""
    pairs, values = pairs_of(scope), _parameter(scope, SINCE)
    found = [*with_nul(pairs), *unknown(pairs, (KEY, SINCE))]
    if wrong := with_others(found, _wrong_seq(values[-1]) if values else ()):
        raise Invalid(*wrong)
    return int(values[-1]) if values else None


def _wrong_seq(text: str) -> Iterator[Field]:
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        what = "This must be the seq of a frame, a whole number."
        yield Field(("query", SINCE), what, "value_error", text)


def check_origin(scope: Scope, allowed: Collection[str]) -> None:
    """Raise `Forbidden` for a web page of an origin that is not allowed; programs send no origin."""
    origins = [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"origin"]
    if "*" not in allowed and any(origin not in allowed for origin in origins):
        raise Forbidden("Web pages of this origin may not connect; ask your account manager to add it.")


def _parameter(scope: Scope, name: str) -> list[str]:
    return [value for key, value in pairs_of(scope) if key == name]


class StreamServer:
    """Accepts WebSocket connections as clients of `subscriptions`."""

    def __init__(self, subscriptions: Subscriptions, limiter: UnauthenticatedLimiter) -> None:
        self._subscriptions = subscriptions
        self._limiter = limiter

    async def serve(self, scope: Scope, receive: Receive, send: Send, ref: str | None) -> None:
        """Refuse an upgrade, or accept it and stream until either side ends it. `ref` names a match."""
        with bind(request_id=request_id(scope)):
            try:
                await self._admit(scope, receive, send, ref)
            except Refusal as error:
                await refuse(scope, send, error)
            except (ClientDisconnected, WebSocketDisconnect):
                log.debug("a client disconnected before its upgrade was accepted")
            except Exception as error:
                log.error("an upgrade failed", exc_info=error)
                await refuse(scope, send, internal_error(scope))

    async def _admit(self, scope: Scope, receive: Receive, send: Send, ref: str | None) -> None:
        check_origin(scope, self._subscriptions.config.origins)
        presented = await authenticate(scope, self._subscriptions.grants, self._limiter)
        since = resume_seq(scope)
        match_id = await self._subscriptions.find_match(presented.grant, ref, ("path", "match_id"))
        with bind(tenant=presented.grant.tenant.slug):
            request = StreamRequest(presented, api_key(scope), match_id, since)
            await self._stream(scope, receive, send, request)

    async def _stream(self, scope: Scope, receive: Receive, send: Send, request: StreamRequest) -> None:
        """Serve a connection from its upgrade to its end."""
        extension: Any = (scope.get("extensions") or {}).get(EXTENSION)
        transport: RawFrameProtocol | AsgiTransport = (
            extension["protocol"] if extension else AsgiTransport(send)
        )
        connection = StreamConnection(request.presented, transport, self._subscriptions.config.backlog)

        async def accept() -> None:
            await receive()
            await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
            if connection.closed:  # the key ended before a close frame could be sent
                transport.finish(CloseCode.POLICY, REVOKED)
            transport.on_drained = connection.flush
            transport.on_inbound = lambda: connection.count_inbound(asyncio.get_running_loop().time())

        async def until_left() -> None:
            while (await receive())["type"] != "websocket.disconnect":
                connection.count_inbound(asyncio.get_running_loop().time())

        await self._subscriptions.stream(connection, request, accept, until_left)


@websocket("/cs2/v1/stream", opt=_OPT)
async def every_match(socket: Socket, stream_server: NamedDependency[StreamServer]) -> None:
    """All matches."""
    await stream_server.serve(socket.scope, socket.receive, socket.send, None)


@websocket("/cs2/v1/stream/{match_id:str}", opt=_OPT)
async def one_match(
    socket: Socket, stream_server: NamedDependency[StreamServer], match_id: FromPath[str]
) -> None:
    """One match, by its UUID or as ``od:match:<n>``."""
    await stream_server.serve(socket.scope, socket.receive, socket.send, match_id)


ROUTES = (every_match, one_match)
