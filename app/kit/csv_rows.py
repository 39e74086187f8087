"""Rows of a CSV file with a header, as structs: a cell is converted as its field's type wants, an empty one
is left out."""

import csv
import io
from typing import TypeVar

import msgspec

from app.kit.control_characters import contains_control_characters
from app.kit.errors import Field, Invalid

T = TypeVar("T")
Place = tuple[str | int, ...]
CSV = "text/csv"


def csv_rows(body: bytes, row_type: type[T], place: Place, *, first: int = 0) -> list[T]:
    """The rows of a file; raises `Invalid` with every invalid one, by `place` and number, counted from
    `first`."""
    found: list[T] = []
    faults: list[Field] = []
    try:
        lines = csv.DictReader(io.StringIO(body.decode("utf-8-sig")), strict=True)
        for number, cells in enumerate(lines, first):
            try:
                found.append(_row(cells, row_type))
            except msgspec.ValidationError as error:
                faults.append(Field((*place, number), str(error), "value_error", None))
    except (UnicodeDecodeError, csv.Error) as error:
        raise Invalid(Field(place, f"This is not CSV in UTF-8: {error}", "csv", None)) from error
    if faults:
        raise Invalid(*faults)
    return found


def _row(cells: dict[str, str], row_type: type[T]) -> T:
    filled = {name: value for name, value in cells.items() if value}
    if None in cells or contains_control_characters(filled):
        raise msgspec.ValidationError("It has more cells than the header, or a control character")
    return msgspec.convert(filled, row_type, strict=False)
