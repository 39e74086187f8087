"""Functions that the operators' routes share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from app.http.auth import AuthenticatedRequest
from app.kit.clock import Clock
from app.kit.errors import Invalid
from app.wire.views.meta import ListMeta, Many

OPERATOR: dict[str, Any] = {"operator": True}


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
