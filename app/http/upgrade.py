"""Requests to become a WebSocket that are refused: an HTTP answer with a JSON body, like every refusal.

The server must support ASGI's `websocket.http.response` extension (uvicorn does); where it does not, it
answers a bare 403 by itself.
"""

from typing import Any, cast

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from app.access.rate_limit import UnauthenticatedLimiter
from app.http import request_id
from app.http.auth import client_address
from app.http.errors import Problem
from app.kit.errors import Invalid, NotFound, Refusal

_NOT_HERE = NotFound("There is no stream at this address.")


class InternalError(Refusal):
    """Something that nobody expected; the log has the trace."""

    status = 500


class UpgradeRefusals:
    """Around the whole application: an upgrade that the framework turns away, because there is nothing at
    its address, gets the words that any address gets where there is nothing."""

    def __init__(self, app: ASGIApp, limiter: UnauthenticatedLimiter) -> None:
        self._app, self._limiter = app, limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.WEBSOCKET:
            await self._app(scope, receive, send)
            return
        begun = False

        async def answering(message: Message) -> None:
            nonlocal begun
            if message["type"] == "websocket.close" and not begun:
                known = "route_handler" in scope
                if not known:
                    self._limiter.record_refusal(client_address(scope), "path")
                await refuse(scope, send, internal_error(scope) if known else _NOT_HERE)
            else:
                await send(message)
            begun = True

        await self._app(scope, receive, answering)


async def refuse(scope: Scope, send: Send, error: Refusal) -> None:
    """RenderedResponse an upgrade with a refusal's status and JSON `{detail}`."""
    detail = error.fields if isinstance(error, Invalid) else error.detail
    body = msgspec.json.encode(Problem(detail))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),  # the server says so of all but upgrades
    ]
    if error.retry_after is not None:
        headers.append((b"retry-after", str(error.retry_after).encode()))
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008, "reason": error.detail[:120]})
        return
    start = {"type": "websocket.http.response.start", "status": error.status, "headers": headers}
    await send(cast(Any, start))
    await send(cast(Any, {"type": "websocket.http.response.body", "body": body, "more_body": False}))


def internal_error(scope: Scope) -> InternalError:
    """What is said of a internal_error of ours."""
    return InternalError(f"The service failed; tell us the request id {request_id.of(scope)}.")
