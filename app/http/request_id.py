"""Every answer carries `X-Request-Id`: the caller's own when it is sane, else a fresh one."""

import re
from uuid import uuid4

from litestar.types import Message, Scope

from app.kit.logging import bind

_SANE = re.compile(rb"[A-Za-z0-9._:/+=-]{1,64}\Z")
_KEY = "matchfeed.request_id"


def of(scope: Scope) -> str:
    """The id of this request, the same at every call."""
    state = scope.setdefault("state", {})
    if _KEY not in state:
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        state[_KEY] = given.decode() if _SANE.match(given) else uuid4().hex
    found: str = state[_KEY]
    return found


async def add(message: Message, scope: Scope) -> None:
    """A hook before every sent message: name the request in the head of its answer."""
    if message["type"] == "http.response.start":
        message["headers"] = [*message["headers"], (b"x-request-id", of(scope).encode())]


__all__ = ["add", "bind", "of"]
