"""The content of a profile as a form: texts, as they were typed, and the content that they make.

The margin for every family and phase has fields of its own; others, and changes of stakes, have a row each.
A row without a number is none: that is how one is removed.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from app.access.profiles import MarginRule, ProfileContent, StakeChange
from app.domain.profiles import HIGHEST_ODDS, LOWEST_ODDS
from app.kit.errors import Field, Invalid
from app.sites.pages.forms import Form

Row = tuple[str, ...]  #: a family, a phase (either may be "": all), and two numbers
MARGIN_ROW = ("margin_family", "margin_phase", "margin_margin", "margin_long_shots")
STAKE_ROW = ("stake_family", "stake_phase", "stake_factor", "stake_delay_seconds")
_FIELDS = ("name", "margin", "long_shots", "min_odds", "max_odds", "min_move")
_HIGHEST = 2**31  #: of a version's number
#: What a form of a new profile begins with.
_FIRST = ProfileContent((MarginRule(0.05),))


class ProfileForm(NamedTuple):
    """The fields of a form. `based_on` is the version that was looked at; 0: none."""

    based_on: int
    name: str
    margin: str
    long_shots: str
    min_odds: str
    max_odds: str
    min_move: str
    margins: Sequence[Row]
    stakes: Sequence[Row]

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """Every field, to be sent again."""
        alone = [(name, getattr(self, name)) for name in ("based_on", *_FIELDS)]
        return alone + [
            pair
            for names, rows in ((MARGIN_ROW, self.margins), (STAKE_ROW, self.stakes))
            for row in rows
            for pair in zip(names, row, strict=True)
        ]

    def content(self) -> ProfileContent:
        """What the fields make. Raises `Invalid`, naming the field."""
        first = MarginRule(
            _number("margin", self.margin), long_shots=_number("long_shots", self.long_shots, 0)
        )
        return ProfileContent(
            margins=(first, *[_margin(row) for row in self.margins]),
            min_odds=_number("min_odds", self.min_odds, LOWEST_ODDS),
            max_odds=_number("max_odds", self.max_odds, HIGHEST_ODDS),
            min_move=_number("min_move", self.min_move, 0),
            stakes=tuple([_stake(row) for row in self.stakes]),
        )


def form_of(name: str, based_on: int, content: ProfileContent = _FIRST) -> ProfileForm:
    """The form of a profile's content."""
    first = next((one for one in content.margins if one.key == ("", "")), MarginRule(0.0))
    return ProfileForm(
        based_on=based_on,
        name=name,
        margin=_text(first.margin),
        long_shots=_text(first.long_shots),
        min_odds=_text(content.min_odds),
        max_odds=_text(content.max_odds),
        min_move=_text(content.min_move),
        margins=[
            (*one.key, _text(one.margin), _text(one.long_shots))
            for one in content.margins
            if one is not first
        ],
        stakes=[(*one.key, _text(one.factor), _text(one.delay_seconds)) for one in content.stakes],
    )


def form_sent(form: Form) -> ProfileForm:
    """The fields as they were sent. Raises `Invalid` for those that no page of ours sends."""
    fields = {name: form.text(name, longest=60) for name in _FIELDS}
    return ProfileForm(
        based_on=form.number("based_on", 0, _HIGHEST),
        **fields,
        margins=_rows(form, MARGIN_ROW),
        stakes=_rows(form, STAKE_ROW),
    )


def _rows(form: Form, names: Sequence[str]) -> list[Row]:
    """The rows in which there is a number."""
    columns = [form.many(name) for name in names]
    if len({len(column) for column in columns}) != 1:
        raise Invalid(Field((names[0],), "Reload the page, and fill in its rows.", "choice"))
    return [row for row in zip(*columns, strict=True) if any(row[2:])]


def _margin(row: Row) -> MarginRule:
    family, phase, margin, long_shots = row
    part = _number("long_shots", long_shots, 0)
    return MarginRule(_number("margin", margin), family, cast(Any, phase), part)


def _stake(row: Row) -> StakeChange:
    family, phase, factor, delay = row
    seconds = _number("delay_seconds", delay, 0)
    if not seconds.is_integer():
        raise Invalid(Field(("delay_seconds",), "Enter whole seconds.", "not_whole", delay))
    return StakeChange(family, cast(Any, phase), _number("factor", factor, 1), int(seconds))


def _number(name: str, text: str, default: float | None = None) -> float:
    """Without a default, it must be there."""
    if not text and default is not None:
        return float(default)
    if not text:
        raise Invalid(Field((name,), f"{name}: this is required.", "required"))
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Invalid(Field((name,), "Enter a number.", "not_number", text))
    return value


def _text(value: float) -> str:
    return str(value).removesuffix(".0")
