"""Bodies, read as the type that their handler takes, to the letter: a number in quotes is no number."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from litestar import Request

from app.http.errors import named_field
from app.kit.errors import Field, Invalid

_PLACE = re.compile(r"(.*?)(?: - at `(?:key` in `)?\$(.*)`)?\Z", re.DOTALL)

_NUL = rb"\u0000"  #: how JSON spells the one character that no database takes
_SHOWN = 20  #: fields named in one refusal
Place = tuple[str | int, ...]


class Strict(Request[Any, Any, Any]):
    """The application's `request_class`. The framework itself would read `0` for false, and "5" for 5."""

    async def json(self) -> Any:
        """The body as the handler's type; raises `Invalid` naming the field that does not fit, and what the
        framework raises for what is no JSON at all."""
        wanted = self.route_handler.parsed_fn_signature.parameters.get("data")
        if wanted is None:
            return await super().json()
        try:
            body = await self.body()
            if _NUL in body:
                _refuse_nul(body)
            return _read(body, wanted.annotation)
        except msgspec.ValidationError as error:
            found = _PLACE.match(str(error))
            what, place = (found[1], found[2] or "") if found else (str(error), "")
            raise Invalid(named_field("body", place, what)) from error
        except msgspec.DecodeError:
            return await super().json()


def _refuse_nul(body: bytes) -> None:
    """Raise `Invalid` naming every text that holds a NUL; a backslash before the same letters is no such."""
    what = "This holds a NUL character, which no value has."
    wrong = [Field(place, what, "nul_character") for place in _nuls(("body",), msgspec.json.decode(body))]
    if wrong:
        raise Invalid(*wrong[:_SHOWN])


def _nuls(place: Place, value: Any) -> Iterator[Place]:
    if isinstance(value, str) and "\0" in value:
        yield place
    elif isinstance(value, dict):
        for key, item in value.items():
            named = (*place, key.replace("\0", ""))
            yield from [named] if "\0" in key else _nuls(named, item)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _nuls((*place, number), item)


def _read(body: bytes, wanted: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=wanted)
    except msgspec.ValidationError:
        return msgspec.convert(_whole(msgspec.json.decode(body)), wanted)


def _whole(value: Any) -> Any:
    """The same with 7.0 as 7: in JSON they are one number."""
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
