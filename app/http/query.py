"""Checks of the query: unknown parameters are refused, so that a misspelled one is noticed.

A route lists the parameters that it knows in `opt["query"]`. One with `any_query` ignores unknown ones (the
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
_WHOLE = re.compile(r"-?[0-9]+\Z")


def refuse_unknown(query: bytes, known: tuple[str, ...]) -> None:
    """Raise `Invalid` naming every parameter of `query` that is not in `known`."""
    parameters = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    unknown = [(name, value) for name, value in parameters if name not in known]
    if unknown:
        what = f"Known here: {', '.join(known)}." if known else "No query parameter is known here."
        raise Invalid(*(Field(("query", name), what, "unknown_parameter", value) for name, value in unknown))


def refuse_misread(scope: Scope) -> None:
    """Raise `Invalid` for values that the framework would misread: null as an absent parameter, unless it is
    a text, a number as a time, and one with a point or an exponent as a whole number."""
    readable = _misreadable(cast(HTTPRouteHandler, scope["route_handler"]))
    if readable:
        parameters = parse_qsl(scope["query_string"].decode("latin-1"))
        read = [
            (name, value, _misread(value, readable[name])) for name, value in parameters if name in readable
        ]
        if wrong := [Field(("query", name), what, "misread", value) for name, value, what in read if what]:
            raise Invalid(*wrong)


def _misread(value: str, types: frozenset[object]) -> str:
    """What is wrong with a value, if anything."""
    if value.lower() == "null":
        return "There is no null in a query; leave the parameter out."
    if not _NUMBER.match(value):
        return ""
    if datetime in types:
        return "A moment looks like 2031-04-02T18:00:00Z."
    return "This must be a whole number, in digits." if int in types and not _WHOLE.match(value) else ""


@lru_cache(maxsize=1024)
def _misreadable(handler: HTTPRouteHandler) -> dict[str, frozenset[object]]:
    """The types of each parameter of a route that is a number, or that is optional and no text."""
    found = {}
    for key, field in handler.parsed_fn_signature.parameters.items():
        types = frozenset((field.annotation, *(one.annotation for one in field.inner_types)))
        if str not in types and (field.is_optional or int in types):
            found[getattr(field.kwarg_definition, "name", None) or key] = types
    return found


def refuse_long(scope: Scope) -> None:
    """Raise `Invalid` for a query of so many parameters that parsing it is expensive."""
    if scope["query_string"].count(b"&") >= _PARAMETERS:
        raise Invalid(Field(("query",), f"A query has {_PARAMETERS} parameters at most.", "too_many"))


def refuse_nul(scope: Scope, *, path: bool = True) -> None:
    """Raise `NotFound` for a path with a NUL, `Invalid` for a query with one: no name has one, and PostgreSQL
    does not store it. Without `path` the handler checks the path."""
    if path and "\0" in scope["path"]:
        raise NotFound("There is nothing at this address.")
    if b"%00" in scope["query_string"]:
        parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        named = [name for name, value in parameters if "\0" in name + value]
        what = "This holds a NUL character, which no value has."
        raise Invalid(*(Field(("query", name.replace("\0", "")), what, "nul_character") for name in named))
