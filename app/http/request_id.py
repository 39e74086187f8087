"""Every answer carries `X-Request-Id`: the caller's own when it is sane, else a fresh one."""

import re
from secrets import token_hex

from litestar.types import Message, Scope

from app.kit.logging import bind

_SANE = re.compile(rb"[A-Za-z0-9._:/+=-]{1,64}\Z")
_KEY = "matchfeed.request_id"


def of(scope: Scope) -> str:
    """The id of this request, the same at every call."""
    state = scope.setdefault("state", {})
    found: str | None = state.get(_KEY)
    if found is None:
        found = state[_KEY] = _given(scope) or token_hex(16)
    return found


def _given(scope: Scope) -> str:
    """The caller's own id, when it is sane."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _SANE.match(value):
            return value.decode()
    return ""


async def add(message: Message, scope: Scope) -> None:
    """A hook before every sent message: name the request in the head of its answer."""
    if message["type"] == "http.response.start":
        message["headers"] = [*message["headers"], (b"x-request-id", of(scope).encode())]


__all__ = ["add", "bind", "of"]
