"""The error responses of operations, each with the schema `{detail}` and an example."""

from collections.abc import Iterator

import msgspec

from app.http.errors import Problem
from app.http.openapi.route_table import JSON, XML, Route
from app.http.openapi.schemas import Json


class Refused(msgspec.Struct, frozen=True):
    """An error body: a sentence that says what to do."""

    detail: str


SHAPES = (Refused, Problem)
_FIELD = {
    "loc": ["query", "limit"],
    "msg": "Expected `int` <= 200",
    "type": "value_error",
    "input": "1000",
}
_FACADE_404 = "NotFoundInXml"
_NOT_FOUND = '<match_summary><response response_code="NOT_FOUND"/></match_summary>'
_ACCOUNT = "Ask your account manager to add it."
#: Description and example `detail` by status.
_TEXTS: dict[int, tuple[str, object]] = {
    400: (
        "The request contradicts itself or cannot be read.",
        "The headers X-API-Key and x-access-token carry different keys: send one.",
    ),
    401: ("No key was sent.", "Send your API key in the header X-API-Key."),
    403: (
        "The key is unknown, expired or revoked, or lacks the scope or the sport.",
        f"This key lacks the scope cs2:matches:read. {_ACCOUNT}",
    ),
    404: ("The resource does not exist, or this key may not see it.", "There is no match 'od:match:404'."),
    406: (
        "`Accept` wants neither JSON nor XML.",
        "This service answers application/json and application/xml; Accept wants neither.",
    ),
    409: (
        "The request conflicts with the present state.",
        "A recovery is in flight for this node; wait for its snapshot_complete.",
    ),
    413: ("The body is too large.", "Request Entity Too Large"),
    422: ("A parameter or a field does not fit; `detail` lists each.", [_FIELD]),
    429: ("The key has exceeded its rate limit.", "This key may ask 600 times a minute; wait 12 s."),
    503: (
        "A part that the service depends on is unavailable.",
        "The database is away; try again in a moment.",
    ),
}
_LATEST: Json = {
    "Retry-After": {
        "description": "If a recovery is in flight: the seconds after which another is accepted, at most.",
        "schema": {"type": "integer", "minimum": 0},
        "example": 600,
    }
}


def components() -> dict[str, Json]:
    """The error responses that operations refer to, by component name."""
    made = {f"Refused{status}": _refused(status, text) for status, text in _TEXTS.items()}
    missing = made["Refused404"]["content"] | {XML: {"schema": {"type": "string"}, "example": _NOT_FOUND}}
    return made | {_FACADE_404: made["Refused404"] | {"content": missing}}


def ref(status: int, route: Route) -> str:
    """The reference to the component that a route uses."""
    named = _FACADE_404 if status == 404 and route.media == (XML,) else f"Refused{status}"
    return f"#/components/responses/{named}"


def _refused(status: int, text: tuple[str, object]) -> Json:
    description, detail = text
    headers = ["X-Request-Id"]
    headers += ["RateLimit", "RateLimit-Policy"] if status not in (401, 503) else []
    headers += ["Retry-After"] if status in (429, 503) else []
    refs = header_refs(headers) | (_LATEST if status == 409 else {})
    shape = "Problem" if status == 422 else "Refused"
    body = {"schema": {"$ref": f"#/components/schemas/{shape}"}, "example": {"detail": detail}}
    return {"description": description, "headers": refs, "content": {JSON: body}}


def header_refs(names: list[str]) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def statuses(route: Route) -> Iterator[int]:
    """The error statuses that a route may send."""
    keyed = not route.opt.get("open")
    if keyed:
        yield from (400, 401, 403, 429)
    elif route.method != "get":
        yield 403
    if "{" in route.path or "match" in route.opt.get("query", ()):  # what it names may not exist
        yield 404
    if len(route.media) > 1:
        yield 406
    if keyed and route.method != "get":
        yield 409
    if route.takes:
        yield from (400, 413)
    yield from (422, 503)
