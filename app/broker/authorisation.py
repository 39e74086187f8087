"""What RabbitMQ's HTTP authorisation backend asks, answered from `broker.rights`: an ASGI application.

It needs nothing but the names in the question, no database and no broker, so that it answers while anything
else is down. Who a tenant is the broker has found out by itself before it asks (authentication is internal);
of users that are not tenants' every question is denied, and the broker goes on to its own permissions.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from app.broker.rights import Access, allows, is_tenant, may_enter

_MOST_BYTES = 16_384  #: of a question; names and keys have at most 255 bytes each
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
Question = dict[str, str]


def application(exchange: str) -> Application:
    """Answers `allow` or `deny` to `POST /auth/user`, `/auth/vhost`, `/auth/resource` and `/auth/topic`,
    where the feed is published to `exchange`."""
    answers: dict[str, Callable[[Question], bool]] = {
        "/auth/user": lambda asked: is_tenant(asked.get("username", "")),
        "/auth/vhost": lambda asked: may_enter(asked.get("username", ""), asked.get("vhost", "")),
        "/auth/resource": lambda asked: allows(_access(asked), exchange),
        "/auth/topic": lambda asked: allows(_access(asked), exchange),
    }

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        known = answers.get(scope["path"])
        if known is None or scope["method"] != "POST":
            await _respond(send, 404, b"not found")
            return
        body = await _body(receive)
        allowed = body is not None and known(dict(parse_qsl(body, keep_blank_values=True)))
        await _respond(send, 200, b"allow" if allowed else b"deny")

    return answer


def _access(asked: Question) -> Access:
    return Access(
        user=asked.get("username", ""),
        vhost=asked.get("vhost", ""),
        resource=asked.get("resource", ""),
        name=asked.get("name", ""),
        permission=asked.get("permission", ""),
        routing_key=asked.get("routing_key", ""),
    )


async def _body(receive: Receive) -> str | None:
    """The question's text; None when it is longer than any question, breaks off, or is not UTF-8."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > _MOST_BYTES:
            return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


async def _respond(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
