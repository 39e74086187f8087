"""Path parameters of the facade: parsed, or refused."""

import re
from datetime import UTC, datetime

from app.domain.catalogue import LOCALES, Locale
from app.kit.errors import BadRequest, Field, Invalid
from app.wire.xml.dictionaries import Producer

#: The kinds that may stand in a URN, and the resource that each names.
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


def parse_locale(text: str) -> Locale:
    """The language of that name; raises `BadRequest` when there is none."""
    for known in LOCALES:
        if text == known:
            return known
    raise BadRequest(f"There is no locale {text!r}; there are {' and '.join(LOCALES)}.")


def parse_number(text: str, kind: str) -> int | None:
    """The number in `text`, which is a number or a URN that ends in one; None for anything else, and for a
    URN of another kind."""
    found = _REFERENCE.match(text)
    if found is None:
        return None
    named = kind if found[1] is None else _KINDS.get(found[1])
    return int(found[2]) if named == kind else None


def check_product(text: str, producer: Producer) -> None:
    """Raise `Invalid` unless `text` is the producer's id, scope or name."""
    if text not in (str(producer.id), producer.scope, producer.name):
        what = f"There is no such product; there is {producer.id}, named {producer.name}."
        raise Invalid(Field(("path", "product"), what, "unsupported_product", text))


def parse_day(text: str) -> tuple[int, int]:
    """The first millisecond (Unix, UTC) of a day and of the day after it; raises `Invalid`."""
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
