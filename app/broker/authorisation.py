"""An ASGI application that answers RabbitMQ's HTTP authorisation backend from `broker.permissions`.

It uses only the names in the request, no database and no broker, so it answers while everything else is down.
The broker has authenticated the user itself (the internal backend) before it sends a request. Requests about
users that are not tenants' are denied, and the broker falls back to its own permissions.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from app.broker.permissions import ResourceCheck, is_allowed, is_tenant_user, may_access_vhost

_MAX_BODY_BYTES = 16_384  #: names and keys have at most 255 bytes each
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
Form = dict[str, str]


def application(exchange: str) -> Application:
    """Responds `allow` or `deny` to `POST /auth/user`, `/auth/vhost`, `/auth/resource` and `/auth/topic`,
    where the feed is published to `exchange`."""
    checks: dict[str, Callable[[Form], bool]] = {
        "/auth/user": lambda form: is_tenant_user(form.get("username", "")),
        "/auth/vhost": lambda form: may_access_vhost(form.get("username", ""), form.get("vhost", "")),
        "/auth/resource": lambda form: is_allowed(_resource_check(form), exchange),
        "/auth/topic": lambda form: is_allowed(_resource_check(form), exchange),
    }

    async def respond(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        check = checks.get(scope["path"])
        if check is None or scope["method"] != "POST":
            await _send_response(send, 404, b"not found")
            return
        body = await _body(receive)
        allowed = body is not None and check(dict(parse_qsl(body, keep_blank_values=True)))
        await _send_response(send, 200, b"allow" if allowed else b"deny")

    return respond


def _resource_check(form: Form) -> ResourceCheck:
    return ResourceCheck(
        user=form.get("username", ""),
        vhost=form.get("vhost", ""),
        resource=form.get("resource", ""),
        name=form.get("name", ""),
        permission=form.get("permission", ""),
        routing_key=form.get("routing_key", ""),
    )


async def _body(receive: Receive) -> str | None:
    """The request's body as text; None when it is too long, incomplete or not UTF-8."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > _MAX_BODY_BYTES:
            return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


async def _send_response(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
