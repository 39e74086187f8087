"""Query parameters that a route does not know are refused, so that a misspelled one is noticed.

A route names those that it knows in `opt["query"]`. One with `any_query` takes whatever comes (the
compatibility facade: existing clients send some).
"""

import re
from datetime import datetime
from functools import lru_cache
from typing import cast
from urllib.parse import parse_qsl

from litestar.handlers import HTTPRouteHandler
from litestar.types import Scope

from app.kit.errors import Field, Invalid, NotFound

_PARAMETERS = 100
_NUMBER = re.compile(r"[-+.0-9eE_]+\Z")


def refuse_unknown(query: bytes, known: tuple[str, ...]) -> None:
    """Raise `Invalid` naming every parameter of `query` that is not in `known`."""
    given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    unknown = [(name, value) for name, value in given if name not in known]
    if unknown:
        what = f"Known here: {', '.join(known)}." if known else "No query parameter is known here."
        raise Invalid(*(Field(("query", name), what, "unknown_parameter", value) for name, value in unknown))


def refuse_misread(scope: Scope) -> None:
    """Raise `Invalid` for what the framework would read as something else than it says: null as left out,
    where the parameter is no text, and a number as a moment."""
    moments = _misreadable(cast(HTTPRouteHandler, scope["route_handler"]))
    if moments:
        given = parse_qsl(scope["query_string"].decode("latin-1"))
        read = [(name, value, _misread(value, moments[name])) for name, value in given if name in moments]
        if wrong := [Field(("query", name), what, "misread", value) for name, value, what in read if what]:
            raise Invalid(*wrong)


def _misread(value: str, moment: bool) -> str:
    """What is wrong with a value, if anything."""
    if value.lower() == "null":
        return "There is no null in a query; leave the parameter out."
    return "A moment looks like 2031-04-02T18:00:00Z." if moment and _NUMBER.match(value) else ""


@lru_cache(maxsize=1024)
def _misreadable(handler: HTTPRouteHandler) -> dict[str, bool]:
    """The parameters of a route that may be left out and are no texts; whether each is a moment."""
    found = {}
    for key, field in handler.parsed_fn_signature.parameters.items():
        types = [one.annotation for one in field.inner_types]
        if field.is_optional and str not in types:
            found[getattr(field.kwarg_definition, "name", None) or key] = datetime in types
    return found


def refuse_long(scope: Scope) -> None:
    """Raise `Invalid` for a query of so many parameters that reading them is work."""
    if scope["query_string"].count(b"&") >= _PARAMETERS:
        raise Invalid(Field(("query",), f"A query has {_PARAMETERS} parameters at most.", "too_many"))


def refuse_nul(scope: Scope, *, path: bool = True) -> None:
    """Raise what fits when an address holds a NUL: nothing is called so, and no database takes one. Without
    `path` that is the handler's to find."""
    if path and "\0" in scope["path"]:
        raise NotFound("There is nothing at this address.")
    if b"%00" in scope["query_string"]:
        given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        named = [name for name, value in given if "\0" in name + value]
        what = "This holds a NUL character, which no value has."
        raise Invalid(*(Field(("query", name.replace("\0", "")), what, "nul_character") for name in named))
