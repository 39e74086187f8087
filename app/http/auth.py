"""The API key of a request, and the rights that a route requires.

A route declares in its `opt` what it requires: `open` (no key at all), `operator` (operator keys only),
`sport` (a namespace), `scopes` (one of these is enough), `probabilities` (tenants that receive them). Every
route that is not `open` needs a key.
"""

from collections.abc import Iterable
from typing import Any

from litestar import Request
from litestar.datastructures import State
from litestar.types import Scope

from app.domain.tenant import Grant
from app.kit.errors import BadRequest, Forbidden, Unauthenticated

AuthenticatedRequest = Request[object, Grant, State]  #: its `auth` is the grant of its key
HEADERS = frozenset((b"x-api-key", b"x-access-token", b"$x$access-token"))


def read_api_key(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The key in the request's headers; raises `Unauthenticated` for none, `BadRequest` for two different
    keys.

    A header without a value counts as absent.
    """
    keys = {value.strip() for name, value in headers if name.lower() in HEADERS} - {b""}
    if not keys:
        raise Unauthenticated("Send your API key in the header X-API-Key.")
    if len(keys) > 1:
        raise BadRequest("The headers X-API-Key and x-access-token carry different keys: send one.")
    return keys.pop().decode("latin-1")


def client_address(scope: Scope) -> str:
    """The address of the client that sent a request or an upgrade; empty if the server does not know it."""
    client = scope.get("client")
    return client[0] if client else ""


def authorize(grant: Grant, required: dict[str, Any]) -> None:
    """Raise `Forbidden` unless the grant has what the route's `opt` requires."""
    if required.get("operator") and not grant.operator:
        raise Forbidden("This is for operator keys only.")
    sport = required.get("sport")
    if sport is not None and sport not in grant.sports:
        raise Forbidden(f"This key may not use the sport {sport!r}. Ask your account manager to add it.")
    scopes: tuple[str, ...] = required.get("scopes", ())
    if scopes and grant.scopes.isdisjoint(scopes):
        raise Forbidden(
            f"This key lacks the scope {' or '.join(scopes)}. Ask your account manager to add it."
        )
    if required.get("probabilities") and not grant.tenant.probabilities:
        raise Forbidden("You do not receive probabilities. Ask your account manager to switch them on.")


def require_scope(grant: Grant, scope: str) -> None:
    """Raise `Forbidden` unless the grant has the scope: for what a handler finds only when it looks."""
    authorize(grant, {"scopes": (scope,)})
