"""What an upgrade request must pass before it is accepted: origin, rate, key, sport, parameters.

The key is the query parameter `api_key`; headers do not count, because browsers cannot send them. Addresses
with too many refused requests are rejected as on REST, and both share one count.
"""

from collections.abc import Collection, Iterator
from functools import partial

from litestar.types import Scope

from app.access.grants import Grants, PresentedKey
from app.access.rate_limit import UnauthenticatedLimiter, authenticate_key
from app.http.auth import authorize, client_address
from app.http.query import pairs_of, refuse_long, refuse_nul_in_path, unknown, with_nul
from app.kit.errors import BadRequest, Field, Forbidden, Invalid, Unauthenticated, with_others

KEY, SINCE = "api_key", "since"
_MOST_DIGITS = 18


async def authenticate(scope: Scope, grants: Grants, limiter: UnauthenticatedLimiter) -> PresentedKey:
    """The client's key and what it grants; raises the refusal."""
    refuse_long(scope)
    address = client_address(scope)
    grant = await authenticate_key(grants, limiter, address, partial(api_key, scope))
    authorize(grant, scope["route_handler"].opt)
    refuse_nul_in_path(scope)
    return PresentedKey(grant, address)


def api_key(scope: Scope) -> str:
    """The key in the query; raises `Unauthenticated` for none, `BadRequest` for two."""
    keys = set(_parameter(scope, KEY)) - {""}
    if not keys:
        raise Unauthenticated("Send your API key as the query parameter api_key.")
    if len(keys) > 1:
        raise BadRequest("The query carries different keys as api_key: send one.")
    return keys.pop()


def resume_seq(scope: Scope) -> int | None:
    """The seq after which a client resumes (`since`), None when it starts afresh; raises `Invalid` naming
    everything that is wrong in the query."""
    pairs, values = pairs_of(scope), _parameter(scope, SINCE)
    found = [*with_nul(pairs), *unknown(pairs, (KEY, SINCE))]
    if wrong := with_others(found, _wrong_seq(values[-1]) if values else ()):
        raise Invalid(*wrong)
    return int(values[-1]) if values else None


def _wrong_seq(text: str) -> Iterator[Field]:
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        what = "This must be the seq of a frame, a whole number."
        yield Field(("query", SINCE), what, "value_error", text)


def check_origin(scope: Scope, allowed: Collection[str]) -> None:
    """Raise `Forbidden` for a web page of an origin that is not allowed; programs send no origin."""
    origins = [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"origin"]
    if "*" not in allowed and any(origin not in allowed for origin in origins):
        raise Forbidden("Web pages of this origin may not connect; ask your account manager to add it.")


def _parameter(scope: Scope, name: str) -> list[str]:
    return [value for key, value in pairs_of(scope) if key == name]
