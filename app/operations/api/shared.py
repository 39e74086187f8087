"""Functions that the operators' routes share."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from app.http.auth import AuthenticatedRequest
from app.kit.clock import Clock
from app.kit.errors import Field, Invalid
from app.store import matches
from app.wire.views.meta import ListMeta, Many

OPERATOR: dict[str, Any] = {"operator": True}
MATCH = ("query", "match")  #: the parameter of lists that may be about one match


def wrong_match(query: Mapping[str, str]) -> list[Field]:
    """The rule of `MATCH`."""
    wrong = matches.wrong_ref(query["match"], MATCH) if "match" in query else None
    return [wrong] if wrong else []


def audit_fields(request: AuthenticatedRequest, clock: Clock) -> dict[str, Any]:
    """Actor and time, for the audit row of a change."""
    return {"by": request.auth.actor, "now": clock()}


@contextmanager
def invalid_in_body() -> Iterator[None]:
    """Prefix the location of every invalid field with `body`."""
    try:
        yield
    except Invalid as error:
        fields = [msgspec.structs.replace(field, loc=("body", *field.loc)) for field in error.fields]
        raise Invalid(*fields) from error


def many(views: list[Any]) -> Many[Any]:
    return Many(tuple(views), ListMeta(len(views)))
