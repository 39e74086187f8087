"""In which format an answer goes out: JSON unless the caller asks for XML.

A range in `Accept` counts as far as it is specific: a type outweighs its family, a family outweighs
anything at all, and weight 0 means never. What is no media range, or has no readable weight, is passed
over; when nothing is left of what was asked, neither format will do. XML goes by both its names
(`text/xml` is an alias, RFC 7303) and is always answered as `application/xml`.
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
    """A format, as its content type."""

    JSON = "application/json"
    XML = "application/xml"


#: The names by which a format may be asked for, and their family.
_NAMES: dict[Format, tuple[tuple[str, str], ...]] = {
    Format.JSON: (("application", "json"),),
    Format.XML: (("application", "xml"), ("text", "xml")),
}
_Ranges = dict[tuple[str, str], float]


def wanted(headers: Iterable[tuple[bytes, bytes]]) -> Format:
    """The format that `Accept` prefers; JSON when it has no preference. Raises `NotAcceptable`."""
    accept = b",".join([value for name, value in headers if name == b"accept"])
    found = _preferred(accept) if accept else Format.JSON
    if found is None:
        raise NotAcceptable(_REFUSAL)
    return found


def of(scope: Scope) -> Format:
    """The format of this request's answer, as it was settled before its handler; JSON before that."""
    found: Format = scope["state"].get(_KEY, Format.JSON)
    return found


def settle(scope: Scope, chosen: Format) -> None:
    """Note the format of this request's answer."""
    scope["state"][_KEY] = chosen


@lru_cache(maxsize=1024)
def _preferred(accept: bytes) -> Format | None:
    """None: neither will do. At equal weight the more specific wish counts, then JSON."""
    ranges = _ranges(accept.decode("latin-1").lower())
    if not ranges:
        return None if accept.strip(b" ,\t") else Format.JSON
    wishes = {form: _wish(form, ranges) for form in Format}
    best = max(Format, key=lambda form: wishes[form])
    return best if wishes[best][0] > 0 else None


def _wish(form: Format, ranges: _Ranges) -> tuple[float, int]:
    """How much `form` is wanted, and how specifically that was said."""
    names = _NAMES[form]
    families = [(family, "*") for family, _ in names]
    for rank, candidates in ((2, names), (1, families), (0, [("*", "*")])):
        said = [ranges[one] for one in candidates if one in ranges]
        if said:
            return max(said), rank
    return 0.0, 0


def _ranges(accept: str) -> _Ranges:
    """The weight of each media range that can be read; of one said twice, the higher."""
    found: _Ranges = {}
    for text in accept.split(","):
        match = _RANGE.match(text)
        weight = _weight(match[3]) if match else None
        if match is None or weight is None or not _sound(match[1], match[2]):
            continue
        name = (match[1], match[2] or "*")
        found[name] = max(weight, found.get(name, 0.0))
    return found


def _sound(family: str, name: str | None) -> bool:
    """Whether this is a media range at all; a lone `*` is one that old clients send."""
    if name is None or family == "*":
        return family == "*" and name in (None, "*")
    return "*" not in family and ("*" not in name or name == "*")


def _weight(parameters: str) -> float | None:
    """The weight among a range's parameters: 1 when there is none, None when it makes no sense."""
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            return float(value) if _WEIGHT.match(value.strip()) else None
    return 1.0
