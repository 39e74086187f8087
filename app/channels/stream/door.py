"""What an upgrade passes before it is accepted: origin, gate, key, sport, parameters.

The key stands in the query (`api_key`); headers do not count, for browsers cannot send them. Addresses that
were refused too often are turned away as on REST, and share that count with it.
"""

from collections.abc import Collection
from functools import partial
from urllib.parse import parse_qsl

from litestar.types import Scope

from app.access.grants import Grants, Presented
from app.access.rate_limit import Strangers, let_in
from app.http.auth import address_of, admit
from app.http.query import refuse_long, refuse_nul, refuse_unknown
from app.kit.errors import BadRequest, Field, Forbidden, Invalid, Unauthenticated

KEY, SINCE = "api_key", "since"
_MOST_DIGITS = 18


async def enter(scope: Scope, grants: Grants, strangers: Strangers) -> Presented:
    """Whoever knocks; raises what refuses them."""
    refuse_long(scope)
    address = address_of(scope)
    grant = await let_in(grants, strangers, address, partial(shown_key, scope))
    admit(grant, scope["route_handler"].opt)
    refuse_nul(scope)
    refuse_unknown(scope["query_string"], (KEY, SINCE))
    return Presented(grant, address)


def shown_key(scope: Scope) -> str:
    """The key in the query; raises `Unauthenticated` for none, `BadRequest` for two."""
    keys = set(_given(scope, KEY)) - {""}
    if not keys:
        raise Unauthenticated("Send your API key as the query parameter api_key.")
    if len(keys) > 1:
        raise BadRequest("The query carries different keys as api_key: send one.")
    return keys.pop()


def asked_since(scope: Scope) -> int | None:
    """The seq after which a client wants to go on, None when it begins; raises `Invalid`."""
    given = _given(scope, SINCE)
    if not given:
        return None
    said = given[-1]
    if not (said.isascii() and said.isdigit() and len(said) <= _MOST_DIGITS):
        what = "This must be the seq of a frame, a whole number."
        raise Invalid(Field(("query", SINCE), what, "value_error", said))
    return int(said)


def check_origin(scope: Scope, welcome: Collection[str]) -> None:
    """Raise `Forbidden` for a web page that may not connect; programs send no origin, and are welcome."""
    told = [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"origin"]
    if "*" not in welcome and any(origin not in welcome for origin in told):
        raise Forbidden("Web pages of this origin may not connect; ask your account manager to add it.")


def _given(scope: Scope, name: str) -> list[str]:
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return [value for key, value in pairs if key == name]
