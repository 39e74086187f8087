"""What browsers send: fields of forms as texts, times, and positions in lists; checked before a handler uses
them.
"""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Annotated

from litestar.datastructures import FormMultiDict
from litestar.params import QueryParameter

from app.kit.clock import LAST_MILLIS
from app.kit.control_characters import has_control_characters
from app.kit.errors import Field, Invalid

NEWEST = 2**63 - 1  #: above every position
#: A change, as an address has it: a page begins below it.
Before = Annotated[int, QueryParameter(ge=1, le=NEWEST)]
_MILLIS = re.compile(r"\d{1,15}\Z", re.ASCII)
#: What a control `datetime-local` sends, and the same with a space.
_LOCAL = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?\Z", re.ASCII)
_LONGEST = 1_000  #: characters of a field, unless the handler says otherwise


class Form:
    """The fields of a form. Raises `Invalid`, naming the field, for values that do not fit."""

    def __init__(self, fields: FormMultiDict) -> None:
        self._fields = fields

    def text(self, name: str, *, longest: int = _LONGEST) -> str:
        """A line of text without leading and trailing spaces, empty if the field is absent."""
        return self._checked(name, self._raw(name).strip(), longest)

    def secret(self, name: str) -> str:
        """A password or a code, as it was typed."""
        return self._checked(name, self._raw(name), _LONGEST)

    def choice(self, name: str, known: Collection[str]) -> str:
        """One of `known`."""
        value = self.text(name)
        if value not in known:
            raise Invalid(Field((name,), f"Choose one of {', '.join(sorted(known))}.", "choice", value[:100]))
        return value

    def many(self, name: str) -> tuple[str, ...]:
        """Every value of a field that may occur more than once: checked boxes."""
        values = [value for value in self._fields.getall(name, []) if isinstance(value, str)]
        return tuple(self._checked(name, value.strip(), _LONGEST) for value in values)

    def has(self, name: str) -> bool:
        """Whether a box is checked."""
        return bool(self._raw(name))

    def number(self, name: str, lowest: int, highest: int) -> int:
        """A whole number within the limits."""
        value = self.text(name)
        try:
            number = int(value) if value.isascii() else lowest - 1
        except ValueError:
            number = lowest - 1
        if not lowest <= number <= highest:
            what = f"Enter a whole number from {lowest} to {highest}."
            ctx = {"lowest": lowest, "highest": highest}
            raise Invalid(Field((name,), what, "range", value[:100], ctx))
        return number

    def _raw(self, name: str) -> str:
        value = self._fields.get(name, "")
        return value if isinstance(value, str) else ""

    def _checked(self, name: str, value: str, longest: int) -> str:
        if len(value) > longest:
            raise Invalid(
                Field((name,), f"At most {longest} characters.", "too_long", ctx={"highest": longest})
            )
        if has_control_characters(value):
            raise Invalid(Field((name,), "This holds a control character.", "control_character"))
        return value


def parsed_moment(name: str, text: str) -> int | None:
    """A time as Unix ms: a date and a time in UTC (`2031-04-02T18:30:05.250`), or Unix ms; None if it is
    empty. Raises `Invalid`, naming the field."""
    if not text:
        return None
    if _MILLIS.match(text) and int(text) <= LAST_MILLIS:
        return int(text)
    if _LOCAL.match(text):
        try:
            at = datetime.fromisoformat(text).replace(tzinfo=UTC)
        except ValueError:  # there is no such day, or no such hour
            pass
        else:
            return round(at.timestamp() * 1000)
    what = "Enter a date and a time in UTC, as 2031-04-02T18:30, or Unix milliseconds."
    raise Invalid(Field((name,), what, "moment", text[:100]))


def local_moment(at: int | None) -> str:
    """Unix ms as a control `datetime-local` shows it, in UTC; empty for None."""
    if at is None:
        return ""
    return datetime.fromtimestamp(at / 1000, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")


def position(before: str) -> int:
    """The id that a page begins below; without one, above all. Raises `Invalid`."""
    if not before:
        return NEWEST
    if not (before.isascii() and before.isdigit() and len(before) < 19):
        raise Invalid(Field(("before",), "Follow the links of this page.", "position", before[:100]))
    return int(before)
