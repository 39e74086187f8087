"""Refused WebSocket upgrades: an HTTP response with a JSON body, like every refusal.

The server must support ASGI's `websocket.http.response` extension (uvicorn does); one that does not sends a
403 without a body.
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
    """An unexpected exception; its traceback is in the log."""

    status = 500


class UpgradeRefusals:
    """Middleware around the whole application: an upgrade to an unknown path, which the framework closes
    without a response, gets the response of any unknown path."""

    def __init__(self, app: ASGIApp, limiter: UnauthenticatedLimiter) -> None:
        self._app, self._limiter = app, limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.WEBSOCKET:
            await self._app(scope, receive, send)
            return
        started = False

        async def send_or_refuse(message: Message) -> None:
            nonlocal started
            if message["type"] == "websocket.close" and not started:
                known = "route_handler" in scope
                if not known:
                    self._limiter.record_refusal(client_address(scope), "path")
                await refuse(scope, send, internal_error(scope) if known else _NOT_HERE)
            else:
                await send(message)
            started = True

        await self._app(scope, receive, send_or_refuse)


async def refuse(scope: Scope, send: Send, error: Refusal) -> None:
    """Respond to an upgrade with the status and the JSON `{detail}` of a refusal."""
    detail = error.fields if isinstance(error, Invalid) else error.detail
    body = msgspec.json.encode(Problem(detail))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),  # the server adds it to all responses but these
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
    """The refusal that an unexpected exception becomes; it carries the request id."""
    return InternalError(f"The service failed; tell us the request id {request_id.of(scope)}.")
