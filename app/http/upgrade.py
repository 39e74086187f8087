"""Refused WebSocket upgrades: an HTTP response with a JSON body, like every refusal.

The server must support ASGI's `websocket.http.response` extension (uvicorn does); one that does not sends a
403 without a body.
"""

from typing import Any, cast

import msgspec
from litestar import Litestar
from litestar.enums import ScopeType
from litestar.types import LifeSpanReceive, LifeSpanScope, LifeSpanSend, Message, Receive, Scope, Send

from app.access.rate_limit import UnauthenticatedLimiter
from app.http import request_id
from app.http.auth import client_address
from app.http.errors import Problem
from app.http.headers import complete_response
from app.kit.errors import Invalid, NotFound, Refusal

_NOT_HERE = NotFound("There is no stream at this address.")


class InternalError(Refusal):
    """An unexpected exception; its traceback is in the log."""

    status = 500


class Application(Litestar):
    """The framework's application, which answers refused upgrades. The `unauthenticated_limiter` of its
    `state.parts` counts those to unknown paths.

    No hook of the framework (2.25) can do this: it closes an upgrade to an unknown path before any middleware
    runs, exception handlers are called for HTTP only, and `before_send` cannot send a body."""

    async def __call__(
        self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Send | LifeSpanSend
    ) -> None:
        if scope["type"] == ScopeType.WEBSOCKET:
            send = self._refusing(cast(Scope, scope), cast(Send, send))
        await super().__call__(scope, receive, send)

    def _refusing(self, scope: Scope, send: Send) -> Send:
        """A `send` that refuses an upgrade which the framework would close without a response."""
        started = False

        async def completed(message: Message) -> None:
            await complete_response(message, scope)
            await send(message)

        async def send_or_refuse(message: Message) -> None:
            nonlocal started
            if message["type"] != "websocket.close" or started:
                await send(message)
            elif cast(Any, scope).get("route_handler"):
                await refuse(scope, completed, internal_error(scope))
            else:
                await refuse_unknown(scope, completed, self.state.parts.unauthenticated_limiter)
            started = True

        return send_or_refuse


async def refuse_unknown(scope: Scope, send: Send, limiter: UnauthenticatedLimiter) -> None:
    """Respond to an upgrade to a path without a stream as to any request to an unknown path."""
    limiter.record_refusal(client_address(scope), "path")
    await refuse(scope, send, _NOT_HERE)


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
