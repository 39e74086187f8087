"""The format of a response: JSON unless the client prefers XML.

In `Accept` the more specific range wins: a type outweighs `type/*`, which outweighs `*/*`; weight 0 excludes.
Malformed ranges and ranges with a malformed weight are ignored; if none is left, the request is not
acceptable. XML matches under both its names (`text/xml` is an alias, RFC 7303) and is always sent as
`application/xml`.

Litestar's own `Accept` (2.25) takes a type of weight 0 and a malformed weight for acceptable, a single `*`
for unacceptable, and knows no aliases.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

from litestar.types import Scope

from app.kit.errors import NotAcceptable

_KEY = "matchfeed.format"
_RANGE = re.compile(r"\s*([\w!#$&^.+*-]+)(?:/([\w!#$&^.+*-]+))?\s*((?:;[^,]*)?)\Z", re.ASCII)
_WEIGHT = re.compile(r"(?:1(?:\.0*)?|0?\.[0-9]+|0\.?)\Z", re.ASCII)
_REFUSAL = "This service answers application/json and application/xml; Accept wants neither."


class Format(StrEnum):
    """A format; the value is its content type."""

    JSON = "application/json"
    XML = "application/xml"


#: The media types, as (type, subtype), that select a format.
_NAMES: dict[Format, tuple[tuple[str, str], ...]] = {
    Format.JSON: (("application", "json"),),
    Format.XML: (("application", "xml"), ("text", "xml")),
}
_Ranges = dict[tuple[str, str], float]


def negotiate(headers: Iterable[tuple[bytes, bytes]]) -> Format:
    """The format that `Accept` prefers; JSON without a preference. Raises `NotAcceptable`."""
    accept = b",".join([value for name, value in headers if name == b"accept"])
    found = _preferred(accept) if accept else Format.JSON
    if found is None:
        raise NotAcceptable(_REFUSAL)
    return found


def response_format(scope: Scope) -> Format:
    """The format that `set_response_format` stored for this request; JSON before that."""
    found: Format = scope["state"].get(_KEY, Format.JSON)
    return found


def set_response_format(scope: Scope, chosen: Format) -> None:
    """Store the format of this request's response."""
    scope["state"][_KEY] = chosen


@lru_cache(maxsize=1024)
def _preferred(accept: bytes) -> Format | None:
    """None if neither format is acceptable. At equal weight the more specific range wins, then JSON."""
    ranges = _ranges(accept.decode("latin-1").lower())
    if not ranges:
        return None if accept.strip(b" ,\t") else Format.JSON
    preferences = {form: _preference(form, ranges) for form in Format}
    best = max(Format, key=lambda form: preferences[form])
    return best if preferences[best][0] > 0 else None


def _preference(form: Format, ranges: _Ranges) -> tuple[float, int]:
    """The weight of `form`, and how specific the range is that sets it."""
    names = _NAMES[form]
    families = [(family, "*") for family, _ in names]
    for rank, candidates in ((2, names), (1, families), (0, [("*", "*")])):
        weights = [ranges[one] for one in candidates if one in ranges]
        if weights:
            return max(weights), rank
    return 0.0, 0


def _ranges(accept: str) -> _Ranges:
    """The weight of each well-formed media range; the higher weight of one that is repeated."""
    found: _Ranges = {}
    for text in accept.split(","):
        match = _RANGE.match(text)
        weight = _weight(match[3]) if match else None
        if match is None or weight is None or not _is_media_range(match[1], match[2]):
            continue
        name = (match[1], match[2] or "*")
        found[name] = max(weight, found.get(name, 0.0))
    return found


def _is_media_range(family: str, name: str | None) -> bool:
    """Whether this is a media range; a single `*`, which old clients send, is one too."""
    if name is None or family == "*":
        return family == "*" and name in (None, "*")
    return "*" not in family and ("*" not in name or name == "*")


def _weight(parameters: str) -> float | None:
    """The weight among a range's parameters: 1 when there is none, None when it is malformed."""
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            return float(value) if _WEIGHT.match(value.strip()) else None
    return 1.0
