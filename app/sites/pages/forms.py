"""A submitted form: its fields as texts, checked before a handler uses them."""

from collections.abc import Collection

from litestar.datastructures import FormMultiDict

from app.kit.control_characters import has_control_characters
from app.kit.errors import Field, Invalid

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
