"""What stands in a path of the facade, understood or refused."""

import re
from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from typing import Any

from app.domain.catalogue import LOCALES, Locale
from app.domain.tenant import Grant
from app.http.media import Format
from app.kit.errors import BadRequest, Field, Invalid
from app.wire.envelopes.dictionaries import Producer

#: The words for what a URN is about, by what it is here.
_KINDS = {
    "match": "match",
    "tournament": "tournament",
    "competition": "tournament",
    "competitor": "competitor",
    "team": "competitor",
    "player": "player",
    "sport": "sport",
    "category": "sport",
    "market": "market",
}
_REFERENCE = re.compile(r"(?:[A-Za-z][A-Za-z0-9_-]*:([A-Za-z_0-9]+):)?([1-9][0-9]{0,17})\Z")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", re.ASCII)
_DAY_MILLIS = 86_400_000


def opt(*scopes: str) -> dict[str, Any]:
    """What a route of the facade asks of whoever comes, beside one of these scopes."""
    return {"sport": "cs2", "scopes": scopes, "any_query": True, "format": Format.XML}


def kept(*scopes: str, seen: Callable[[Grant], Hashable]) -> dict[str, Any]:
    """`opt` of a route whose documents are kept; `seen` is what of a grant they depend on."""
    return opt(*scopes) | {"kept": lambda grant, _: seen(grant)}


def nothing(_: Grant) -> Hashable:
    """What documents depend on that everybody sees alike."""
    return None


def locale(text: str) -> Locale:
    """The language of that name; raises `BadRequest` when there is none."""
    for known in LOCALES:
        if text == known:
            return known
    raise BadRequest(f"There is no locale {text!r}; there are {' and '.join(LOCALES)}.")


def number(text: str, kind: str) -> int | None:
    """The number that `text` is or, being a URN, ends with; None for anything else, and for a URN that is
    about something else than `kind`."""
    found = _REFERENCE.match(text)
    if found is None:
        return None
    about = kind if found[1] is None else _KINDS.get(found[1])
    return int(found[2]) if about == kind else None


def product(text: str, producer: Producer) -> None:
    """Raise `Invalid` unless `text` is the producer's id, scope or name."""
    if text not in (str(producer.id), producer.scope, producer.name):
        what = f"There is no such product; there is {producer.id}, named {producer.name}."
        raise Invalid(Field(("path", "product"), what, "unsupported_product", text))


def day(text: str) -> tuple[int, int]:
    """The first moment of a day in UTC and of the one after it, in Unix ms; raises `Invalid`."""
    what = "A schedule is pre, live, or of a day: 2031-04-02."
    refusal = Invalid(Field(("path", "day"), what, "day", text))
    if not _DAY.match(text):
        raise refusal
    try:
        midnight = datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError as error:
        raise refusal from error
    first = int(midnight.timestamp()) * 1000
    return first, first + _DAY_MILLIS
