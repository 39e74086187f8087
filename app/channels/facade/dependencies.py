"""What the facade's handlers share: what they depend on and how they respond, what their routes require of a
key, how their documents are cached, and the path parameters, parsed or refused."""

import re
from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from app.domain.catalogue import LOCALES, Locale
from app.domain.tenant import Grant
from app.http.representation import Format, ResponseBody
from app.http.response import RenderedResponse, as_xml
from app.kit.clock import Clock
from app.kit.errors import BadRequest, Field, Invalid
from app.store.connections import Store
from app.wire.xml import responses
from app.wire.xml.dialect import Dialect
from app.wire.xml.dictionaries import Producer
from app.wire.xml.responses import NotFoundRoot

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


NodeId = Annotated[str | None, QueryParameter(description="Digits; ends every routing key.")]


class FacadeDependencies(msgspec.Struct, frozen=True):
    """The store, the clock, the deployment's producer, the URL of the category's icon, and the dialect of the
    address that received the request."""

    store: Store
    clock: Clock
    producer: Producer
    icon_url: str
    dialect: Dialect

    def body(self, document: bytes) -> ResponseBody:
        """A document with its moment of rendering, which is not part of the tag."""
        tag = ResponseBody(document, Format.XML).tag
        return ResponseBody(responses.with_generated_at(document, self.clock()), Format.XML, tag=tag)

    def respond(self, document: bytes, invalidated_by: UUID | None = None) -> RenderedResponse[Any]:
        """A document; on a cached route it is stored until a change of `invalidated_by`."""
        return RenderedResponse(self.body(document), invalidated_by=invalidated_by)


Facade = NamedDependency[FacadeDependencies]  #: as handlers have them


def not_found(root: NotFoundRoot) -> RenderedResponse[Any]:
    """404 with the resource's own root and the mark that it does not exist."""
    return as_xml(responses.not_found(root), 404)


def options(*scopes: str) -> dict[str, Any]:
    """`opt` of a route that requires one of these scopes."""
    return {"sport": "cs2", "scopes": scopes, "any_query": True, "format": Format.XML}


def cached(*scopes: str, per: Callable[[Grant], Hashable]) -> dict[str, Any]:
    """`options` of a cached route; `per` is what of a grant its documents depend on."""
    return options(*scopes) | {"cached_per": lambda grant, _: per(grant)}


def per_nothing(_: Grant) -> Hashable:
    """For `per`: documents that are the same for every grant."""
    return None


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
