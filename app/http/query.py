"""Query parameters that a route does not know are refused, so that a misspelled one is noticed."""

from urllib.parse import parse_qsl

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Receive, Scope, Send

from app.kit.errors import Field, Invalid


class KnownParameters(ASGIMiddleware):
    """Lets a request pass when every query parameter stands in the route's `opt["query"]`.

    A route with `any_query` takes whatever comes (the compatibility facade: existing clients send some).
    """

    scopes = (ScopeType.HTTP,)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        if scope["query_string"]:
            wanted = scope["route_handler"].opt
            if not wanted.get("any_query"):
                refuse_unknown(scope["query_string"], wanted.get("query", ()))
        await next_app(scope, receive, send)


def refuse_unknown(query: bytes, known: tuple[str, ...]) -> None:
    """Raise `Invalid` naming every parameter of `query` that is not in `known`."""
    given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    unknown = [(name, value) for name, value in given if name not in known]
    if unknown:
        what = f"Known here: {', '.join(known)}." if known else "No query parameter is known here."
        raise Invalid(*(Field(("query", name), what, "unknown_parameter", value) for name, value in unknown))
