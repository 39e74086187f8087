"""Who asks, and whether this route is for them.

A route says in its `opt` what it asks for: `open` (no key at all), `operator` (operator keys only),
`sport` (a namespace), `scopes` (one of these is enough). Every route but an `open` one needs a key.
"""

from collections.abc import Iterable
from typing import Any

from litestar import Request
from litestar.datastructures import State
from litestar.types import Scope

from app.domain.tenant import Grant
from app.kit.errors import BadRequest, Forbidden, Unauthenticated

Caller = Request[object, Grant, State]  #: a request whose `auth` is the caller's grant
HEADERS = frozenset((b"x-api-key", b"x-access-token", b"$x$access-token"))


def read_api_key(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The key in the request's headers; raises `Unauthenticated` for none, `BadRequest` for two kinds.

    A header without a value says nothing: it is as if it had not been sent.
    """
    keys = {value.strip() for name, value in headers if name.lower() in HEADERS} - {b""}
    if not keys:
        raise Unauthenticated("Send your API key in the header X-API-Key.")
    if len(keys) > 1:
        raise BadRequest("The headers X-API-Key and x-access-token carry different keys: send one.")
    return keys.pop().decode("latin-1")


def client_address(scope: Scope) -> str:
    """The address that a request or an upgrade comes from; empty where the server does not know it."""
    client = scope.get("client")
    return client[0] if client else ""


def authorize(grant: Grant, wanted: dict[str, Any]) -> None:
    """Raise `Forbidden` unless the grant has what the route asks for."""
    if wanted.get("operator") and not grant.operator:
        raise Forbidden("This is for operator keys only.")
    sport = wanted.get("sport")
    if sport is not None and sport not in grant.sports:
        raise Forbidden(f"This key may not use the sport {sport!r}. Ask your account manager to add it.")
    scopes: tuple[str, ...] = wanted.get("scopes", ())
    if scopes and grant.scopes.isdisjoint(scopes):
        raise Forbidden(
            f"This key lacks the scope {' or '.join(scopes)}. Ask your account manager to add it."
        )
