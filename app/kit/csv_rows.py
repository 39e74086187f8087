"""CSV: rows of a file with a header as structs (a cell is converted as its field's type wants, an empty one
is left out), and rows as lines that are safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from app.kit.control_characters import contains_control_characters
from app.kit.errors import Field, Invalid
from app.kit.names import explained

T = TypeVar("T", bound=msgspec.Struct)
Place = tuple[str | int, ...]
CSV = "text/csv"
CSV_WITH_HEADER = f"{CSV}; charset=utf-8; header=present"  #: the content type of a file that we send
_EVALUATED = ("=", "+", "-", "@", "\t", "\r")


def csv_rows(body: bytes, row_type: type[T], place: Place, *, first: int = 0) -> list[T]:
    """The rows of a file; raises `Invalid` with every invalid one, by `place` and number, counted from
    `first`."""
    found: list[T] = []
    faults: list[Field] = []
    try:
        lines = csv.DictReader(io.StringIO(body.decode("utf-8-sig"), newline=None), strict=True)
        _check_header(lines.fieldnames or (), row_type)
        for number, cells in enumerate(lines, first):
            try:
                found.append(_row(cells, row_type))
            except msgspec.ValidationError as error:
                faults.append(Field((*place, number), explained(str(error)), "value_error", None))
    except (csv.Error, ValueError) as error:
        raise Invalid(Field(place, f"This cannot be read as CSV in UTF-8: {error}", "csv", None)) from error
    if faults:
        raise Invalid(*faults)
    return found


def _check_header(names: Sequence[str], row_type: type[msgspec.Struct]) -> None:
    known = [field.encode_name for field in msgspec.structs.fields(row_type)]
    if not names or set(names) - set(known) or len(set(names)) < len(names):
        raise ValueError(f"its first line is the header, with names among {', '.join(known)}, each once")


def rows_as_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows with the same fields, with their header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Lines of CSV (RFC 4180); None is an empty cell. Text that a spreadsheet would evaluate begins with an
    apostrophe instead: names and reasons come from outside."""
    text = io.StringIO()
    csv.writer(text).writerows([_harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_EVALUATED) else cell


def _row(cells: dict[str, str], row_type: type[T]) -> T:
    filled = {name: value for name, value in cells.items() if value}
    if None in cells or contains_control_characters(filled):
        raise msgspec.ValidationError("It has more cells than the header, or a control character")
    return msgspec.convert(filled, row_type, strict=False)
