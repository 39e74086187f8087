"""Bodies, read as the type that their handler takes, to the letter: a number in quotes is no number.

Large ones are read beside the event loop, and a refusal looks no further than it tells.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from litestar import Request
from litestar.exceptions import SerializationException

from app.http.errors import named_field
from app.kit.errors import Field, Invalid
from app.kit.threads import in_thread

_PLACE = re.compile(r"(.*?)(?: - at `(?:key` in `)?\$(.*)`)?\Z", re.DOTALL)

_NUL = rb"\u0000"  #: how JSON spells the one character that no database takes
_BACKSLASH = rb"\\"  #: and a backslash, before which the same letters are no NUL
#: How the parser says that a whole number may have been meant.
_FLOAT = re.compile(r"Expected `[^`]*int\b[^`]*`, got `float`")
_SHOWN = 20  #: fields named in one refusal
_LARGE = 32_768  #: bytes; a smaller body is read in less than a millisecond
Place = tuple[str | int, ...]


class Strict(Request[Any, Any, Any]):
    """The application's `request_class`. The framework itself would read `0` for false, and "5" for 5."""

    async def json(self) -> Any:
        """The body as the handler's type; raises `Invalid` naming the field that does not fit, and what the
        framework raises for what is no JSON at all."""
        wanted = self.route_handler.parsed_fn_signature.parameters.get("data")
        if wanted is None:
            return await super().json()
        body = await self.body()
        if len(body) < _LARGE:
            return _checked(body, wanted.annotation)
        return await in_thread(_checked, body, wanted.annotation)


def _checked(body: bytes, wanted: Any) -> Any:
    try:
        if _NUL in body and _NUL in body.replace(_BACKSLASH, b""):
            _refuse_nul(body)
        return _read(body, wanted)
    except msgspec.ValidationError as error:
        found = _PLACE.match(str(error))
        what, place = (found[1], found[2] or "") if found else (str(error), "")
        raise Invalid(named_field("body", place, what)) from error
    except msgspec.DecodeError as error:
        raise SerializationException(str(error)) from error


def _refuse_nul(body: bytes) -> None:
    """Raise `Invalid` naming texts that hold a NUL; of a large body, which is not searched, itself."""
    what = "This holds a NUL character, which no value has."
    places = [("body",)] if len(body) > _LARGE else islice(_nuls(("body",), _any.decode(body)), _SHOWN)
    raise Invalid(*[Field(place, what, "nul_character") for place in places])


def _nuls(place: Place, value: Any) -> Iterator[Place]:
    if isinstance(value, str):
        if "\0" in value:
            yield place
    elif isinstance(value, dict):
        for key, item in value.items():
            named = (*place, key.replace("\0", ""))
            yield from [named] if "\0" in key else _nuls(named, item)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            if isinstance(item, (str, dict, list)):
                yield from _nuls((*place, number), item)


def _read(body: bytes, wanted: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=wanted)
    except msgspec.ValidationError as error:
        if not _FLOAT.match(str(error)):
            raise
    return msgspec.convert(_any.decode(body), wanted)


def _whole(text: str) -> int | float:
    """7 for 7.0: in JSON they are one number."""
    value = float(text)
    return int(value) if value.is_integer() else value


_any = msgspec.json.Decoder(float_hook=_whole)
