"""What a request carries in its query and in its body: read strictly, and refused with everything that is
wrong.

Unknown parameters of a query are refused, so that a misspelled one is noticed. A route knows those that its
handler declares; one whose handler reads others itself lists all in `opt["query"]`. One with `any_query`
ignores unknown ones (the compatibility facade: existing clients send some). What a value must be beside its
type and its bounds is the route's `query_rule`, or checked by its handler.

JSON bodies are decoded as the type that their handler declares: a number in quotes is no number. Large bodies
are decoded in a thread, and stop at the first error. A route with `opt["csv"]`, the type of a row, takes rows
as CSV, too.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import wraps
from itertools import islice
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import parse_qsl
from weakref import WeakKeyDictionary

import msgspec
from litestar import Request
from litestar.datastructures import Headers
from litestar.exceptions import SerializationException
from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter
from litestar.types import Scope
from msgspec.structs import FieldInfo

from app.kit.control_characters import has_control_characters, strip_control_characters
from app.kit.csv_rows import CSV, csv_rows
from app.kit.errors import Field, Invalid, NotFound, with_others
from app.kit.heavy_work import run_in_thread
from app.kit.names import explained

T = TypeVar("T")
Pairs = Sequence[tuple[str, str]]
#: What is wrong with the parameters that were sent.
QueryRule = Callable[[Mapping[str, str]], Iterable[Field]]
REQUIRED = "This is required."
_PARAMETERS = 100
_NUMBER = re.compile(r"[-+.0-9eE_]+\Z")
_WHOLE = re.compile(r"-?[0-9]+\Z")
#: The framework's message about a text that is no value of a type, and what to send.
_WRONG_TYPE = re.compile(r"Expected `(int|float|bool)(?: \| null)?`, got `\w+`\Z")
_EXPECTED = {
    "int": "This must be a whole number, in digits.",
    "float": "This must be a number.",
    "bool": "Send true or false.",
}
_PLACE = re.compile(r"(.*?)(?: - at `(?:key` in `)?\$(.*)`)?\Z", re.DOTALL)
_BACKSLASH = rb"\\"  #: an escaped backslash: what follows it is no escape
_NUL = rb"\u0000"
#: A control character that texts may not hold (`kit.control_characters`), in JSON: as an escape, or as it is.
_CONTROL = re.compile(
    rb"\\u(?:00(?:0[0-8bcef]|1[0-9a-f]|7f|[89][0-9a-f])|061c|200[ef]|202[a-e]|206[6-9])|\\[bf]|\x7f"
    rb"|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]",
    re.IGNORECASE,
)
#: The decoder's message for a float where an integer is expected.
_FLOAT = re.compile(r"Expected `[^`]*int\b[^`]*`, got `float`")
_SHOWN = 20  #: fields listed in one refusal
_WHAT = "This holds a control character (NUL, another of C0 or C1, or one that turns the direction of text)."
_SEARCHED = 1_048_576  #: bytes; the texts of larger bodies are not stored and not searched
_LARGE = 32_768  #: bytes; a smaller body is decoded in less than a millisecond
Place = tuple[str | int, ...]
_PART = re.compile(r"[^.\[\]]+")
#: A missing or unknown field is named in the message only.
_NAMED = re.compile(r"(?:missing required|contains unknown) field `(\w+)`")


def refuse_wrong(scope: Scope) -> None:
    """Raise `Invalid` for a query that `wrong_fields` finds wrong."""
    if wrong := wrong_fields(scope):
        raise Invalid(*wrong)


def wrong_fields(scope: Scope) -> list[Field]:
    """Everything that is wrong in a query, if the framework would accept some of it; else nothing, since the
    framework then refuses all that is wrong."""
    if not scope["query_string"]:
        return []
    handler = cast(HTTPRouteHandler, scope["route_handler"])
    pairs, rule = pairs_of(scope), cast(QueryRule | None, handler.opt.get("query_rule"))
    if not pairs:
        return []
    found = with_others(with_nul(pairs), misread(handler, pairs))
    if not handler.opt.get("any_query"):
        found += unknown(pairs, handler.opt.get("query", _declared(handler)))
    by_rule = list(rule(dict(pairs))) if rule else []
    if not found and not by_rule:
        return []
    return with_others(with_others(found, _unfit(handler, pairs)), by_rule)


def unfit_fields(scope: Scope) -> list[Field]:
    """Everything that is wrong in a query of which a required parameter is absent: the framework names that
    one alone."""
    return list(_unfit(cast(HTTPRouteHandler, scope["route_handler"]), pairs_of(scope)))


def refuse_long(scope: Scope) -> None:
    """Raise `Invalid` for a query of so many parameters that parsing it is expensive."""
    if scope["query_string"].count(b"&") >= _PARAMETERS:
        raise Invalid(Field(("query",), f"A query has {_PARAMETERS} parameters at most.", "too_many"))


def refuse_nul_in_path(scope: Scope) -> None:
    """Raise `NotFound` for a path with a NUL: no name has one, and PostgreSQL does not store it."""
    if "\0" in scope["path"]:
        raise NotFound("There is nothing at this address.")


def pairs_of(scope: Scope) -> Pairs:
    """The query's parameters, as they were sent."""
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def unknown(pairs: Pairs, known: Collection[str]) -> list[Field]:
    """The parameters that are not in `known`."""
    what = f"Known here: {', '.join(known)}." if known else "No query parameter is known here."
    return [
        Field(("query", name), what, "unknown_parameter", value)
        for name, value in pairs
        if name not in known and "\0" not in name + value
    ]


def with_nul(pairs: Pairs) -> list[Field]:
    """The parameters that hold a NUL."""
    what = "This holds a NUL character, which no value has."
    return [
        Field(("query", name.replace("\0", "")), what, "nul_character")
        for name, value in pairs
        if "\0" in name + value
    ]


def misread(handler: HTTPRouteHandler, pairs: Pairs) -> list[Field]:
    """The values that the framework would misread: null as an absent parameter, unless it is a text, a number
    as a time, and one with a point or an exponent as a whole number."""
    readable = _misreadable(handler)
    read = [(name, value, _misread(value, readable[name])) for name, value in pairs if name in readable]
    return [Field(("query", name), what, "misread", value) for name, value, what in read if what]


def _misread(value: str, types: frozenset[object]) -> str:
    """What is wrong with a value, if anything."""
    if value.lower() == "null":
        return "There is no null in a query; leave the parameter out."
    if not _NUMBER.match(value):
        return ""
    if datetime in types:
        return "A moment looks like 2031-04-02T18:00:00Z."
    return "This must be a whole number, in digits." if int in types and not _WHOLE.match(value) else ""


def _once(read: Callable[[HTTPRouteHandler], T]) -> Callable[[HTTPRouteHandler], T]:
    """Cache what a route declares, by the handler's function: if the handler were the key, its application
    would live as long as this module."""
    by_function: WeakKeyDictionary[Callable[..., object], T] = WeakKeyDictionary()

    @wraps(read)
    def read_once(handler: HTTPRouteHandler) -> T:
        if handler.fn not in by_function:
            by_function[handler.fn] = read(handler)
        return by_function[handler.fn]

    return read_once


@_once
def _misreadable(handler: HTTPRouteHandler) -> dict[str, frozenset[object]]:
    """The types of each parameter of a route that is a number, or that is optional and no text."""
    found = {}
    for key, field in handler.parsed_fn_signature.parameters.items():
        types = frozenset((field.annotation, *(one.annotation for one in field.inner_types)))
        if str not in types and (field.is_optional or int in types):
            found[getattr(field.kwarg_definition, "name", None) or key] = types
    return found


def _unfit(handler: HTTPRouteHandler, pairs: Pairs) -> Iterator[Field]:
    """The parameters that are absent, or whose value the framework refuses."""
    sent = dict(pairs)  # the last one counts
    for name, (field, _) in _declared(handler).items():
        if name not in sent:
            if field.required:
                yield Field(("query", name), REQUIRED, "value_error")
            continue
        try:
            msgspec.convert(sent[name], field.type, strict=False)
        except msgspec.ValidationError as error:
            what = in_words(handler, name, str(error).split(" - ")[0])
            yield Field(("query", name), what, "value_error", sent[name])


def in_words(handler: HTTPRouteHandler, name: str, what: str) -> str:
    """What to send, instead of or beside the framework's message about a parameter of the query."""
    declared = _declared(handler).get(name)
    if declared is None:
        return what
    if found := _WRONG_TYPE.match(what):
        return _EXPECTED[found[1]]
    if what.startswith("Invalid enum value"):
        return f"{what}. Send one of: {', '.join(_choices(msgspec.inspect.type_info(declared.field.type)))}."
    if "matching regex" in what and declared.description:
        return f"This does not fit. Expected: {declared.description}"
    return what


def _choices(kind: msgspec.inspect.Type) -> list[str]:
    """The texts of a closed list of values."""
    match kind:
        case msgspec.inspect.Metadata():
            return _choices(kind.type)
        case msgspec.inspect.UnionType():
            return [text for each in kind.types for text in _choices(each)]
        case msgspec.inspect.EnumType():
            return [str(each.value) for each in kind.cls]
        case msgspec.inspect.LiteralType():
            return [str(value) for value in kind.values]
    return []


class _Declared(NamedTuple):
    """A parameter's type with the bounds of its values, and what it is, as the API's document says it."""

    field: FieldInfo
    description: str


@_once
def _declared(handler: HTTPRouteHandler) -> dict[str, _Declared]:
    """The query parameters of a route."""
    fields = {field.name: field for field in msgspec.structs.fields(handler.signature_model)}
    return {
        kwarg.name or key: _Declared(fields[key], kwarg.description or "")
        for key, parameter in handler.parsed_fn_signature.parameters.items()
        if isinstance(kwarg := parameter.kwarg_definition, QueryParameter)
    }


class StrictRequest(Request[Any, Any, Any]):
    """The application's `request_class`. The framework itself would accept `0` for false, and "5" for 5."""

    async def json(self) -> Any:
        """The body as the handler's type; raises `Invalid` with the field that does not fit, and the
        framework's own error for malformed JSON."""
        wanted = self.route_handler.parsed_fn_signature.parameters.get("data")
        if wanted is None:
            return await super().json()
        refuse_encoded("body", self.headers)
        kind = self.headers.get("content-type", "")
        row_type = self.route_handler.opt.get("csv")
        if row_type is not None and kind.partition(";")[0].strip().lower() == CSV:
            return await run_in_thread(csv_rows, await self.body(), row_type, ("body",))
        _refuse_other_types(kind)
        body = await self.body()
        if len(body) < _LARGE:
            return _checked(body, wanted.annotation)
        return await run_in_thread(_checked, body, wanted.annotation)


def refuse_encoded(what: str, headers: Headers) -> None:
    """Raise `Invalid` for a body with a `Content-Encoding`; `what` is in it."""
    encoding = headers.get("content-encoding", "")
    if encoding.strip().lower() not in ("", "identity"):
        said = f"Send the {what} as it is, without Content-Encoding."
        raise Invalid(Field(("header", "content-encoding"), said, "content_encoding", encoding[:100]))


def _refuse_other_types(content_type: str) -> None:
    """Raise `Invalid` for a body whose `Content-Type` is not JSON."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not kind.endswith("+json"):
        what = "The body must be JSON: say Content-Type: application/json, or nothing."
        raise Invalid(Field(("header", "content-type"), what, "content_type", kind[:100]))


def _checked(body: bytes, wanted: Any) -> Any:
    try:
        if _holds_control_character(body):
            _refuse_control_characters(body)
        return _read(body, wanted)
    except msgspec.ValidationError as error:
        found = _PLACE.match(str(error))
        what, place = (found[1], found[2] or "") if found else (str(error), "")
        raise Invalid(named_field("body", place, explained(what))) from error
    except msgspec.DecodeError as error:
        raise SerializationException(str(error)) from error


def _holds_control_character(body: bytes) -> bool:
    """Whether a text in it holds a control character. Bodies that are too large to be searched are checked
    for NUL only, which PostgreSQL does not store."""
    if body.isascii() and b"\\" not in body and b"\x7f" not in body:
        return False
    bare = body.replace(_BACKSLASH, b"")
    return _NUL in bare or (len(body) <= _SEARCHED and _CONTROL.search(bare) is not None)


def _refuse_control_characters(body: bytes) -> None:
    """Raise `Invalid` with the places of the texts; for a large body, which is not searched, the body
    itself."""
    found = [("body",)] if len(body) > _LARGE else islice(_places(("body",), _any.decode(body)), _SHOWN)
    if places := list(found):
        raise Invalid(*[Field(place, _WHAT, "control_character") for place in places])


def _places(place: Place, value: Any) -> Iterator[Place]:
    if isinstance(value, str):
        if has_control_characters(value):
            yield place
    elif isinstance(value, dict):
        for key, item in value.items():
            named = (*place, strip_control_characters(key))
            yield from [named] if has_control_characters(key) else _places(named, item)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            if isinstance(item, (str, dict, list)):
                yield from _places((*place, number), item)


def _read(body: bytes, wanted: Any) -> Any:
    """Integers may be written as 7.0 in a body that is not large. In a large one the first such number is
    refused: checking each would take a second."""
    try:
        return msgspec.json.decode(body, type=wanted)
    except msgspec.ValidationError as error:
        if len(body) >= _LARGE or not _FLOAT.match(str(error)):
            raise
    return msgspec.convert(_any.decode(body), wanted)


def _whole(text: str) -> int | float:
    """7 for 7.0: in JSON they are one number."""
    value = float(text)
    return int(value) if value.is_integer() else value


_any = msgspec.json.Decoder(float_hook=_whole)


def named_field(source: str, key: str, what: str, value: str | None = None) -> Field:
    """A field with what is wrong with it; `key` is its path as the framework and msgspec write it."""
    return Field((source, *_path(key), *_NAMED.findall(what)), what, "value_error", value)


def _path(key: str) -> Iterable[str | int]:
    """The parts of a path such as ``streams[0].url``; the body itself has none."""
    parts = _PART.findall(key) if key != "data" else []
    return (int(part) if part.isdigit() else part for part in parts)
