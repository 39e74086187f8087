"""JSON request bodies, decoded strictly as the type that their handler declares: a number in quotes is no
number.

Large bodies are decoded in a thread, and stop at the first error.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from litestar import Request
from litestar.exceptions import SerializationException

from app.http.errors import named_field
from app.kit.background import run_in_thread
from app.kit.control_characters import has_control_characters, strip_control_characters
from app.kit.errors import Field, Invalid

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


class StrictRequest(Request[Any, Any, Any]):
    """The application's `request_class`. The framework itself would accept `0` for false, and "5" for 5."""

    async def json(self) -> Any:
        """The body as the handler's type; raises `Invalid` with the field that does not fit, and the
        framework's own error for malformed JSON."""
        wanted = self.route_handler.parsed_fn_signature.parameters.get("data")
        if wanted is None:
            return await super().json()
        _refuse_other_types(self.headers.get("content-type", ""))
        body = await self.body()
        if len(body) < _LARGE:
            return _checked(body, wanted.annotation)
        return await run_in_thread(_checked, body, wanted.annotation)


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
        raise Invalid(named_field("body", place, what)) from error
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
