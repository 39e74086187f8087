"""An ASGI application that answers RabbitMQ's HTTP backend, for authorisation and for logins with a key.

About the users of tenants it uses only the names in the request, no database and no broker, so it answers
while everything else is down. The broker has checked the password of such a user itself (the internal
backend) before it requests authorisation. But for a user whom it has refused it requests authentication with
the very same message. A user who has passed only that request has no tag, and enters no vhost.

`KeyUsers` decides about users whose name is an API key. All others are denied, and the broker falls back to
its own permissions.
"""

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol
from urllib.parse import parse_qsl

from app.broker.permissions import TENANT_TAG, ResourceCheck, is_allowed, is_own_vhost, is_tenant_user
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.metrics import broker_decisions

_MAX_BODY_BYTES = 16_384  #: names and keys have at most 255 bytes each
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
Form = dict[str, str]
log = get_logger(__name__)


class KeyUsers(Protocol):
    """Users whose name is an API key. Every method may raise `Unavailable`."""

    async def may_log_in(self, user: str) -> bool: ...

    async def may_enter(self, user: str, vhost: str, address: str) -> bool: ...

    async def owns(self, user: str, vhost: str) -> bool: ...


def application(exchange: str, keys: Callable[[], KeyUsers]) -> Application:
    """Responds `allow` or `deny` to `POST /auth/user`, `/auth/vhost`, `/auth/resource` and `/auth/topic`,
    where the feed is published to `exchange`. Where `keys` are needed and raise `Unavailable` it responds
    503: the broker refuses then, too, and does not cache that."""
    checks = _Checks(exchange, keys)
    by_path: dict[str, Callable[[Form], Awaitable[bool]]] = {
        "/auth/user": checks.user,
        "/auth/vhost": checks.vhost,
        "/auth/resource": checks.resource,
        "/auth/topic": checks.resource,
    }

    async def respond(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        check = by_path.get(scope["path"])
        if check is None or scope["method"] != "POST":
            await _send_response(send, 404, b"not found")
            return
        about = scope["path"].rpartition("/")[2]
        body = await _body(receive)
        try:
            allowed = body is not None and await check(dict(parse_qsl(body, keep_blank_values=True)))
        except Unavailable as error:
            log.warning("the broker's request about a key has no answer", error=error.detail)
            broker_decisions.labels(about, "unavailable").inc()
            await _send_response(send, 503, b"unavailable")
            return
        answer = "allow" if allowed else "deny"
        broker_decisions.labels(about, answer).inc()
        await _send_response(send, 200, answer.encode())

    for about in by_path:
        for answer in ("allow", "deny", "unavailable"):
            broker_decisions.labels(about.rpartition("/")[2], answer)
    return respond


class _Checks:
    """The answer to each kind of request."""

    def __init__(self, exchange: str, keys: Callable[[], KeyUsers]) -> None:
        self._exchange, self._keys = exchange, keys

    async def user(self, form: Form) -> bool:
        user = form.get("username", "")
        return is_tenant_user(user) or (form.get("password") == "" and await self._keys().may_log_in(user))

    async def vhost(self, form: Form) -> bool:
        user, vhost = form.get("username", ""), form.get("vhost", "")
        if is_tenant_user(user):
            return is_own_vhost(user, vhost) and TENANT_TAG in re.split("[ ,]", form.get("tags", ""))
        return await self._keys().may_enter(user, vhost, form.get("ip", ""))

    async def resource(self, form: Form) -> bool:
        user, vhost = form.get("username", ""), form.get("vhost", "")
        by_key = not is_tenant_user(user)
        if not (await self._keys().owns(user, vhost) if by_key else is_own_vhost(user, vhost)):
            return False
        return is_allowed(_resource_check(form, by_key), self._exchange)


def _resource_check(form: Form, by_key: bool) -> ResourceCheck:
    return ResourceCheck(
        vhost=form.get("vhost", ""),
        resource=form.get("resource", ""),
        name=form.get("name", ""),
        permission=form.get("permission", ""),
        routing_key=form.get("routing_key", ""),
        by_key=by_key,
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
