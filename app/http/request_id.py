"""Every response carries `X-Request-Id`: the client's own if it is valid, else a generated one."""

import re
from itertools import count
from os import getpid
from secrets import token_hex

from litestar.types import Scope

_VALID = re.compile(rb"[A-Za-z0-9._:/+=-]{1,64}\Z")
_KEY = "matchfeed.request_id"
#: An id is a random prefix, the process id and a counter: a random id per request would cost a system call.
_PREFIX, _numbers = token_hex(8), count(1)


def of(scope: Scope) -> str:
    """The id of this request, the same at every call."""
    state = scope.setdefault("state", {})
    found: str | None = state.get(_KEY)
    if found is None:
        found = state[_KEY] = _from_header(scope) or f"{_PREFIX}{getpid():08x}{next(_numbers):08x}"
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
