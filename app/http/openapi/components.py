"""What operations refer to by name: parameters, headers, security schemes and error responses. There is one
entry for each name that a route uses.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from app.domain.catalogue import LOCALES
from app.domain.daily_files import FILE_NAME
from app.http.errors import Problem
from app.http.openapi.routes import JSON, XML, Route
from app.http.openapi.schemas import Json

Values = Mapping[str, tuple[str, ...]]
_DIGITS: Json = {"type": "string", "pattern": "^[1-9][0-9]*$", "maxLength": 64}
_MATCHES = "its UUID, or `od:match:<number>`; URL-encoded or not."
_NUMBERED = "its number, or a URN that ends in it; a URN may be URL-encoded."
_ENTRANT: Json = {"type": "string", "pattern": "^([a-z]+:[a-z]+:)?[1-9][0-9]{0,17}$"}
_TEAM: Json = {"type": "string", "pattern": "^([a-z]+:competitor:)?[1-9][0-9]{0,17}$"}
_MATCH: Json = {
    "type": "string",
    "pattern": "^(od:match:[1-9][0-9]{0,17}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$",
}
_UUID = "0b54f3d1-9a5e-4f0e-8a39-6c3f6d2a9c11"
_TYPE = "(match|team|player|tournament)"


class ParameterDoc(msgspec.Struct, frozen=True):
    """A parameter: its description where routes have none, an example, and its schema where their type is
    less precise."""

    description: str = ""
    example: Any = None
    schema: Json | None = None


#: In paths and queries. A description in the route itself takes precedence.
PARAMETERS = {
    "after": ParameterDoc(example=0, schema={"type": "integer", "minimum": 0, "maximum": 9_999_999_999_999}),
    "closed": ParameterDoc(example=False),
    "claim_id": ParameterDoc("The claim, by its id.", _UUID),
    "combination_id": ParameterDoc("The combination, by its id.", _UUID),
    "competitor_id": ParameterDoc(f"The team: {_NUMBERED}", "11", _ENTRANT),
    "based_on": ParameterDoc("The version that was changed; 0: none."),
    "day": ParameterDoc("A day, in UTC.", "2031-04-02", {"type": "string", "format": "date"}),
    "event_id": ParameterDoc(f"The match: {_MATCHES}", "od:match:1", _MATCH),
    "file_name": ParameterDoc(
        "The file, by its name in the list.",
        "prices-2031-04-02.parquet",
        {"type": "string", "pattern": FILE_NAME},
    ),
    "from": ParameterDoc(example="2026-01-01", schema={"type": "string", "format": "date"}),
    "incident_id": ParameterDoc("The incident's number, as in the list of incidents.", 1),
    "first": ParameterDoc(example=1),
    "index": ParameterDoc(example=0),
    "is_active": ParameterDoc(example=True),
    "is_lan": ParameterDoc(example=False),
    "key_id": ParameterDoc("The key, by its id.", _UUID),
    "limit": ParameterDoc("Rows at most.", 2),
    "parts": ParameterDoc(example="database"),
    "locale": ParameterDoc(
        "The language of names and descriptions.", "en", {"type": "string", "enum": list(LOCALES)}
    ),
    "maintenance_id": ParameterDoc("The maintenance's number, as in the list.", 1),
    "market": ParameterDoc(example="1:team=home"),
    "market_id": ParameterDoc("The market's type in the catalogue.", "1"),
    "consent_id": ParameterDoc("The request's number, as in the list of requests for consent.", 1),
    "alert_id": ParameterDoc("The alert's number, as in the list of alerts.", 1),
    "max_delay": ParameterDoc(example=2000, schema={"type": "integer", "minimum": 0, "maximum": 86_400_000}),
    "match": ParameterDoc(f"Those of one match: {_MATCHES}", "od:match:1", _MATCH),
    "match_id": ParameterDoc(f"The match: {_MATCHES}", "od:match:1", _MATCH),
    "name": ParameterDoc("The file's name.", "feed.xsd"),
    "node_id": ParameterDoc(example="7", schema=_DIGITS),
    "odds": ParameterDoc(
        example="2.105",
        schema={
            "type": "string",
            "pattern": r"^(1\.([1-9][0-9]{0,2}|0[1-9][0-9]?|00[1-9])|"
            r"([2-9]|[1-9][0-9]{1,3})(\.[0-9]{1,3})?)$",
        },
    ),
    "opponent_id": ParameterDoc(f"The other team: {_NUMBERED}", "mf:competitor:12", _TEAM),
    "player_id": ParameterDoc(f"The player: {_NUMBERED}", "1101", _ENTRANT),
    "product": ParameterDoc("The producer, by its id, its scope or its name."),
    "profile": ParameterDoc(
        "The profile's name.", "tight", {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,29}$"}
    ),
    "q": ParameterDoc(example="herons"),
    "region": ParameterDoc(example="EU"),
    "request_id": ParameterDoc(
        "Digits of your own; repeated in every envelope of the replay.", "1001", _DIGITS
    ),
    "run_parallel": ParameterDoc(example=False, schema={"type": "boolean"}),
    "since_id": ParameterDoc(example=0),
    "since_seq": ParameterDoc(example=0),
    "second": ParameterDoc(example=2),
    "size": ParameterDoc(example=2),
    "season": ParameterDoc(example="2025/26"),
    "soccer_match_id": ParameterDoc(f"The match: {_NUMBERED}", "1", _ENTRANT),
    "report_id": ParameterDoc("The report, by its id.", _UUID),
    "dry_run": ParameterDoc(example=False),
    "slug": ParameterDoc("The tenant's slug.", "acme"),
    "sport_id": ParameterDoc("The category, as the catalogue of sports lists it.", "3"),
    "specifiers": ParameterDoc("The market's specifiers.", "team=home"),
    "speed": ParameterDoc(example=20, schema={"type": "number", "minimum": 0.01, "maximum": 1000}),
    "stake": ParameterDoc(
        example="12.50",
        schema={
            "type": "string",
            "pattern": r"^(0\.(0[1-9]|[1-9][0-9]?)|[1-9][0-9]{0,8}(\.[0-9]{1,2})?)$",
        },
    ),
    "start": ParameterDoc(example=0),
    "status": ParameterDoc(example="live"),
    "team": ParameterDoc(example="11", schema=_ENTRANT),
    "team_id": ParameterDoc(f"The team: {_NUMBERED}", "mf:competitor:11", _TEAM),
    "tenant": ParameterDoc("The tenant, by its slug.", "acme"),
    "tier": ParameterDoc(example="A"),
    "time_filter": ParameterDoc(example="3months"),
    "type_id": ParameterDoc("The market type in the catalogue.", 13),
    "to": ParameterDoc(example="2031-01-01", schema={"type": "string", "format": "date"}),
    "token": ParameterDoc(example="5f2c"),
    "tournament": ParameterDoc(example="21", schema=_ENTRANT),
    "tournament_id": ParameterDoc(f"The tournament: {_NUMBERED}", "21", _ENTRANT),
    "types": ParameterDoc(
        example="team,player", schema={"type": "string", "pattern": f"^{_TYPE}(,{_TYPE}){{0,9}}$"}
    ),
    "use_replay_timestamp": ParameterDoc(example=False, schema={"type": "boolean"}),
    "variant": ParameterDoc("The variant's URN.", "od:exact_score:bo1"),
}


def _request_header(name: str, description: str, schema: Json | None = None, example: str = "") -> Json:
    header: Json = {"name": name, "in": "header", "required": False, "description": description}
    header["schema"] = schema or {"type": "string"}
    return header | ({"example": example} if example else {})


#: Request headers. Those that carry the key are the security schemes.
REQUEST_HEADERS: dict[str, Json] = {
    "IfNoneMatch": _request_header(
        "If-None-Match", "An `ETag` that you have; the response is 304 without a body while it matches."
    ),
    "Range": _request_header(
        "Range",
        "Which bytes to send, where a download broke off: `bytes=1000-` sends those from number 1000 on, the "
        "first being 0. Anything but one range of bytes is ignored.",
        example="bytes=1000-",
    ),
    "IfRange": _request_header(
        "If-Range", "The `ETag` of what you have: `Range` counts only while it is the file's."
    ),
    "LastEventId": _request_header(
        "Last-Event-ID",
        "Of an event stream: the `id` of the last event that you have. It takes precedence over `since_seq`.",
        {"type": "string", "pattern": "^[0-9]{0,18}$"},
    ),
    "RequestId": _request_header(
        "X-Request-Id",
        "Your own id of this request, repeated in the response and in our logs: up to 64 letters, digits and "
        "`._:/+=-`. Anything else is replaced.",
        example="book-7f3a",
    ),
}

#: Response headers: description, example, and whether the header is always present.
_RESPONSE_HEADERS = {
    "X-Request-Id": ("The request's id: yours, or a generated one.", "book-7f3a", True),
    "ETag": ("The version of the response, for `If-None-Match`.", '"7b1f0f3f4b7c6a0e6f3f5c0f8b1d2a9e"', True),
    "Vary": ("The request headers that the response depends on.", "Accept, X-API-Key", True),
    "Cache-Control": (
        "No shared cache may store the response, and every use is revalidated.",
        "private, no-cache",
        True,
    ),
    "X-Combination-Id": (
        "The id under which the price is stored (`/cs2/v1/combinations/{combination_id}`); absent with one"
        " selection.",
        _UUID,
        False,
    ),
    "X-Next-Since-Seq": ("Of CSV: what `meta.next_since_seq` is in JSON.", "48223", False),
    "X-More": ("Of CSV: what `meta.more` is in JSON.", "true", False),
    "X-Complete-From": ("Of CSV: what `meta.complete_from` is in JSON.", "0", False),
    "Accept-Ranges": ("Parts of the file may be requested.", "bytes", True),
    "Content-Range": ("Which bytes of how many these are.", "bytes 1000-48222/48223", True),
    "RateLimit": (
        "What remains of the key's rate limit, and the seconds until one more request is allowed.",
        '"key";r=598;t=1',
        False,
    ),
    "RateLimit-Policy": (
        "The key's rate limit: requests, and the seconds of the window.",
        '"key";q=600;w=60',
        False,
    ),
}
RESPONSE_HEADERS: dict[str, Json] = {
    name: {
        "description": description,
        "required": required,
        "schema": {"type": "string"},
        "example": example,
    }
    for name, (description, example, required) in _RESPONSE_HEADERS.items()
} | {
    "Retry-After": {
        "description": "Whole seconds to wait.",
        "required": True,
        "schema": {"type": "integer", "minimum": 0},
        "example": 12,
    }
}

SECURITY_SCHEMES: dict[str, Json] = {
    "key": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "Your key. If more than one of the three headers is sent, their values must be equal.",
    },
    "token": {
        "type": "apiKey",
        "in": "header",
        "name": "x-access-token",
        "description": "The same key, in the header that clients of the compatibility facade send.",
    },
    "old_token": {
        "type": "apiKey",
        "in": "header",
        "name": "$x$access-token",
        "description": "Deprecated spelling of `x-access-token`.",
    },
}


def parameter(drafted: Json, values: Values, required: Collection[str]) -> Json:
    """One parameter of a route, with its description. `values` are the permitted values in this deployment,
    by name."""
    name, known = drafted["name"], PARAMETERS.get(drafted["name"])
    schema = {key: value for key, value in drafted["schema"].items() if key != "description"}
    made: Json = {"name": name, "in": drafted["in"], "required": drafted["required"] or name in required}
    description = drafted.get("description") or (known.description if known else None)
    if description:
        made["description"] = description
    made["schema"] = (
        {"type": "string", "enum": list(values[name])} if name in values else _schema(schema, known)
    )
    example = values[name][0] if name in values else known.example if known else None
    if (options := made["schema"].get("enum")) and example not in options:
        example = options[0]
    form = made["schema"].get("format")
    if form == "uuid":
        example = _UUID
    elif example and form == "date-time":
        example = f"{example}T00:00:00Z"
    elif isinstance(example, str) and made["schema"].get("type") == "integer":
        example = made["schema"]["minimum"]
    return made if example is None else made | {"example": example}


def _schema(drafted: Json, known: ParameterDoc | None) -> Json:
    """The schema without null, which stands for an absent parameter: a query cannot carry it."""
    options = drafted.get("oneOf")
    if options:
        drafted = {key: value for key, value in drafted.items() if key != "oneOf"} | options[0]
    if isinstance(drafted.get("type"), list):
        drafted["type"] = next(kind for kind in drafted["type"] if kind != "null")
    if "enum" in drafted:
        drafted["enum"] = [value for value in drafted["enum"] if value is not None]
    if drafted.get("default") is None:
        drafted.pop("default", None)
    bare = drafted == {"type": "string"}
    return known.schema if known and known.schema and bare else drafted


class Refused(msgspec.Struct, frozen=True):
    """An error body: a sentence that says what to do."""

    detail: str


REFUSALS = (Refused, Problem)
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
        "`Accept` wants none of the formats of this address.",
        "This service answers application/json and application/xml; Accept wants neither.",
    ),
    409: (
        "The request conflicts with the present state.",
        "A recovery is in flight for this node; wait for its snapshot_complete.",
    ),
    413: ("The body is too large.", "Request Entity Too Large"),
    416: ("The file has none of the requested bytes.", "The file has 48223 bytes; none from 50000 on."),
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


def refusals() -> dict[str, Json]:
    """The error responses that operations refer to, by component name."""
    made = {f"Refused{status}": _refused(status, text) for status, text in _TEXTS.items()}
    missing = made["Refused404"]["content"] | {XML: {"schema": {"type": "string"}, "example": _NOT_FOUND}}
    return made | {_FACADE_404: made["Refused404"] | {"content": missing}}


def refusal_ref(status: int, route: Route) -> str:
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


#: Query parameters that name something: a match, a tree by its size.
_NAMING = ("match", "size", "second")


def refusal_statuses(route: Route) -> Iterator[int]:
    """The error statuses that a route may send."""
    keyed = not route.opt.get("open")
    if keyed:
        yield from (400, 401, 403, 429)
    elif route.method != "get":
        yield 403
    named = "{" in route.path or any(one["name"] in _NAMING for one in route.draft.get("parameters", ()))
    if named or route.opt.get("may_be_absent"):
        yield 404
    if len(route.media) > 1 and not route.sends_files:
        yield 406
    if keyed and route.method != "get":
        yield 409
    if route.sends_files:
        yield 416
    if route.takes:
        yield from (400, 413)
    yield from (422, 503)
