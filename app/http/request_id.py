"""Every response carries `X-Request-Id`: the client's own if it is valid, else a generated one."""

import os
import re
from itertools import count
from secrets import token_hex

from litestar.types import Scope

_VALID = re.compile(rb"[A-Za-z0-9._:/+=-]{1,64}\Z")
_KEY = "matchfeed.request_id"
#: An id is a random prefix and a counter: a random id, or the process id, per request would cost a system
#: call.
_prefix, _numbers = token_hex(12), count(1)


def _begin_in_child() -> None:
    """A forked process would continue with its parent's ids."""
    global _prefix
    _prefix = token_hex(12)


os.register_at_fork(after_in_child=_begin_in_child)


def of(scope: Scope) -> str:
    """The id of this request, the same at every call."""
    state = scope.setdefault("state", {})
    found: str | None = state.get(_KEY)
    if found is None:
        found = state[_KEY] = _from_header(scope) or f"{_prefix}{next(_numbers):08x}"
    return found


def _from_header(scope: Scope) -> str:
    """The client's own id, if it is valid; else empty."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _VALID.match(value):
            return value.decode()
    return ""


def header(scope: Scope) -> tuple[bytes, bytes]:
    """The header that names the request."""
    return b"x-request-id", of(scope).encode()
