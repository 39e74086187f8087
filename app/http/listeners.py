"""Which listener serves which addresses: tenants' and operators' are two sockets of one process.

Everything under `/ops` belongs to the operators' listener, but the log sink, which game servers reach on the
public one. What a listener does not serve is answered as any address is where there is nothing. So is an
address that is not spelled plainly (`//ops/v1/feed`, `/cs2%2fv1/stream`, `/x/../ops/v1/feed`), on every
listener: a proxy that guards a prefix, and we, must read the same address.

With no port for operators, one listener serves all of it: for development, and for tests in one process.
"""

import re
from typing import Any, cast

from litestar.types import ASGIApp, Receive, Scope, Send

_NOWHERE = "/ops"  #: an address that no route has
_SEPARATORS = re.compile(r"[/\\]+")
_LOG_SINK = re.compile(r"/ops/v1/matches/[^/]+/log/?\Z")
#: What the operators' listener serves beside `/ops`, for whatever watches the process.
_FOR_OPERATORS_TOO = ("/v1/health", "/v1/ready", "/v1/alive")
#: Only the log sink's address may end in a slash: game servers add one.
_SPELLED_OUT = re.compile(rb"/ops/[A-Za-z0-9/_.:~%-]*(?:[A-Za-z0-9_.:~%-]|/log/)\Z")
#: Separators, and what is never encoded (letters, digits, `-._~`). `:` and `|` in an id may be, or not.
_NEEDLESSLY_ENCODED = re.compile(rb"%(2[def]|3[0-9]|4[1-9a-f]|5[0-9acf]|6[1-9a-f]|7[0-9ae])", re.IGNORECASE)


class ListenerFilter:
    """Around the whole application: hides from each request what its listener does not serve.

    `operator_port` is the port of the operators' listener; 0: there is none."""

    def __init__(self, app: ASGIApp, operator_port: int) -> None:
        self._app, self._operator_port = app, operator_port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if cast(Any, scope)["type"] != "lifespan" and not self._serves(scope):
            hidden = {**scope, "path": _NOWHERE, "raw_path": _NOWHERE.encode()}
            scope = cast(Scope, hidden)
        await self._app(scope, receive, send)

    def _serves(self, scope: Scope) -> bool:
        path = scope["path"]
        if not _plain(scope):
            return False
        if not _for_operators(path):
            return not self._is_operators(scope) or path in _FOR_OPERATORS_TOO
        if not _spelled_out(scope):
            return False
        return not self._operator_port or self._is_operators(scope) is not bool(_LOG_SINK.match(path))

    def _is_operators(self, scope: Scope) -> bool:
        """Whether the request came in on the operators' listener."""
        server = scope.get("server")
        return bool(self._operator_port) and server is not None and server[1] == self._operator_port


def _for_operators(path: str) -> bool:
    """Whether an address means something under `/ops` to anybody, however it is spelled."""
    parts: list[str] = []
    for part in _SEPARATORS.split(path.lower()):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return parts[:1] == ["ops"] or path.lower().startswith("/ops")


def _plain(scope: Scope) -> bool:
    """Whether all read the address alike: no empty or dot segments, no separators in disguise."""
    path = scope["path"]
    segments = path.split("/")
    tidy = "" not in segments[1:-1] and not {".", ".."} & set(segments) and "\\" not in path
    return tidy and not _NEEDLESSLY_ENCODED.search(_raw(scope))


def _spelled_out(scope: Scope) -> bool:
    """Whether an operators' address is spelled in its one way."""
    raw = _raw(scope)
    return bool(_SPELLED_OUT.match(raw)) and b"%25" not in raw


def _raw(scope: Scope) -> bytes:
    return scope.get("raw_path") or scope["path"].encode()
