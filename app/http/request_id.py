"""Every answer carries `X-Request-Id`: the caller's own when it is sane, else a fresh one."""

import re
from itertools import count
from os import getpid
from secrets import token_hex

from litestar.types import Scope

_SANE = re.compile(rb"[A-Za-z0-9._:/+=-]{1,64}\Z")
_KEY = "matchfeed.request_id"
#: An id is chance once, the process and a running number: chance each time costs a call of the system.
_OURS, _numbers = token_hex(8), count(1)


def of(scope: Scope) -> str:
    """The id of this request, the same at every call."""
    state = scope.setdefault("state", {})
    found: str | None = state.get(_KEY)
    if found is None:
        found = state[_KEY] = _given(scope) or f"{_OURS}{getpid():08x}{next(_numbers):08x}"
    return found


def _given(scope: Scope) -> str:
    """The caller's own id, when it is sane."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _SANE.match(value):
            return value.decode()
    return ""


def header(scope: Scope) -> tuple[bytes, bytes]:
    """The header that names the request."""
    return b"x-request-id", of(scope).encode()
