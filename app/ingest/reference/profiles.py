"""Profiles as JSON lines: one object a line, of a `kind`. `docs/imports.md` describes the formats."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from app.ingest.reference.rows import Row, RowKind, fault
from app.kit.control_characters import contains_control_characters
from app.kit.errors import Field, Invalid

T = TypeVar("T")
Place = tuple[str | int, ...]  #: of a line, as errors name it
CS2: dict[str, RowKind] = {
    "category": "category",
    "tournament": "tournament",
    "team": "team",
    "player": "player",
}
SOCCER: dict[str, RowKind] = {"competitor": "soccer_competitor", "tournament": "soccer_tournament"}
#: Fields with names of other rows, and the field of ids for each.
_LINKS: dict[RowKind, dict[str, str]] = {
    "player": {"team": "team_id"},
    "tournament": {"category": "category_id", "teams": "team_ids"},
    "soccer_tournament": {"competitors": "competitor_ids"},
}


class Head(msgspec.Struct, frozen=True):
    """The fields that every line must have."""

    kind: str
    name: str
    id: int | None = None


def read(file: str, body: bytes, kinds: dict[str, RowKind]) -> list[Row]:
    """The rows of a file without blank lines; raises `Invalid` with every invalid line."""
    return read_lines(file, body, lambda place, line: _row(place, line, kinds))


def read_lines(file: str, body: bytes, read_line: Callable[[Place, bytes], T]) -> list[T]:
    """`read_line` of each line of a file that is not blank; raises `Invalid` with every invalid line."""
    found: list[T] = []
    faults: list[Field] = []
    for number, line in enumerate(body.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found.append(read_line((file, number), line))
        except msgspec.DecodeError as error:
            faults.append(fault((file, number), str(error)))
    if faults:
        raise Invalid(*faults)
    return found


def _row(place: Place, line: bytes, kinds: dict[str, RowKind]) -> Row:
    head = msgspec.json.decode(line, type=Head)
    fields: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    if contains_control_characters(fields):
        raise msgspec.ValidationError("A text in it holds a control character")
    if head.kind not in kinds:
        raise msgspec.ValidationError(f"`kind` is one of {', '.join(kinds)}, not {head.kind!r}")
    kind = kinds[head.kind]
    links = {to: fields.pop(name) for name, to in _LINKS.get(kind, {}).items() if name in fields}
    for name in ("kind", "name", "id"):
        fields.pop(name, None)
    linked = msgspec.convert(links, dict[str, str | list[str]])
    return Row(kind, head.name.strip(), fields, place, head.id, linked)
