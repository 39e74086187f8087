"""Descriptions of parameters, headers and security schemes by name: one entry for each name that a route
uses."""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from app.domain.catalogue import LOCALES
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
    """A parameter: its description, an example, and its schema if the route's type is less precise."""

    description: str
    example: Any = None
    schema: Json | None = None


#: In paths and queries. A description in the route itself takes precedence.
PARAMETERS = {
    "after": ParameterDoc(
        "Unix milliseconds of the last message processed. Left out or 0: a full snapshot.",
        0,
        {"type": "integer", "minimum": 0, "maximum": 9_999_999_999_999},
    ),
    "competitor_id": ParameterDoc(f"The team: {_NUMBERED}", "11", _ENTRANT),
    "day": ParameterDoc("A day, in UTC.", "2031-04-02", {"type": "string", "format": "date"}),
    "event_id": ParameterDoc(f"The match: {_MATCHES}", "od:match:1", _MATCH),
    "cursor": ParameterDoc("The `next_cursor` of the page before, unchanged."),
    "from": ParameterDoc(
        "Those that begin then or later; UTC.", "2026-01-01", {"type": "string", "format": "date"}
    ),
    "is_active": ParameterDoc("Teams that still play (true), or no longer (false).", True),
    "is_lan": ParameterDoc("Those played in one place (true), or online (false).", False),
    "key_id": ParameterDoc("The key, by its id.", _UUID),
    "limit": ParameterDoc("Rows at most.", 2),
    "parts": ParameterDoc("Only these parts, separated by commas.", "database"),
    "locale": ParameterDoc(
        "The language of names and descriptions.", "en", {"type": "string", "enum": list(LOCALES)}
    ),
    "market_id": ParameterDoc("The market's type in the catalogue.", "1"),
    "consent_id": ParameterDoc("The request's number, as in the list of requests for consent.", 1),
    "alert_id": ParameterDoc("The alert's number, as in the list of alerts.", 1),
    "match": ParameterDoc(f"Those of one match: {_MATCHES}", "od:match:1", _MATCH),
    "match_id": ParameterDoc(f"The match: {_MATCHES}", "od:match:1", _MATCH),
    "name": ParameterDoc("The file's name.", "feed.xsd"),
    "node_id": ParameterDoc("Digits; the last section of every routing key of the replay.", "7", _DIGITS),
    "opponent_id": ParameterDoc(f"The other team: {_NUMBERED}", "mf:competitor:12", _TEAM),
    "player_id": ParameterDoc(f"The player: {_NUMBERED}", "1101", _ENTRANT),
    "product": ParameterDoc("The producer, by its id, its scope or its name."),
    "q": ParameterDoc("At least two letters of the name.", "herons"),
    "region": ParameterDoc("The region, in any case.", "EU"),
    "request_id": ParameterDoc(
        "Digits of your own; repeated in every envelope of the replay.", "1001", _DIGITS
    ),
    "since_id": ParameterDoc("The `id` of the last entry that you have; 0: none.", 0),
    "slug": ParameterDoc("The tenant's slug.", "acme"),
    "sport_id": ParameterDoc("The category, as the catalogue of sports lists it.", "3"),
    "start": ParameterDoc("Rows to leave out first.", 0),
    "status": ParameterDoc("Matches in this state only.", "live"),
    "team_id": ParameterDoc(f"The team: {_NUMBERED}", "mf:competitor:11", _TEAM),
    "tier": ParameterDoc("S, A, B, C or D, in any case.", "A"),
    "time_filter": ParameterDoc("How far back to look; a month has 30 days.", "3months"),
    "type_id": ParameterDoc("The market type in the catalogue.", 13),
    "to": ParameterDoc("Those that begin before then; UTC.", "2031-01-01"),
    "token": ParameterDoc("The token from the match's log sink address.", "5f2c"),
    "tournament_id": ParameterDoc(f"The tournament: {_NUMBERED}", "21", _ENTRANT),
    "types": ParameterDoc(
        "Only these, with commas between.",
        "team,player",
        {"type": "string", "pattern": f"^{_TYPE}(,{_TYPE}){{0,9}}$"},
    ),
    "variant": ParameterDoc("The variant's URN.", "od:exact_score:bo1"),
}

#: Request headers. Those that carry the key are the security schemes.
REQUEST_HEADERS: dict[str, Json] = {
    "IfNoneMatch": {
        "name": "If-None-Match",
        "in": "header",
        "required": False,
        "description": "An `ETag` that you have; the response is 304 without a body while it matches.",
        "schema": {"type": "string"},
    },
    "RequestId": {
        "name": "X-Request-Id",
        "in": "header",
        "required": False,
        "description": "Your own id of this request, repeated in the response and in our logs: up to 64 "
        "letters, digits and `._:/+=-`. Anything else is replaced.",
        "schema": {"type": "string"},
        "example": "book-7f3a",
    },
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
    "Allow": ("The methods that the path accepts.", "GET", True),
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
    form = made["schema"].get("format")
    if form == "uuid":
        example = _UUID
    elif example and form == "date-time":
        example = f"{example}T00:00:00Z"
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
