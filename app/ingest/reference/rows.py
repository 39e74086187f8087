"""The rows that every file of reference data is parsed into."""

from typing import Any, Literal

import msgspec

from app.domain.entrants import Country
from app.kit.errors import Field

RowKind = Literal["category", "tournament", "team", "player", "soccer_competitor", "soccer_tournament"]


class Row(msgspec.Struct, frozen=True):
    """One entity in a file. `fields` have the domain's names, except that `links` holds the names for a field
    of ids (a player's team, a tournament's teams). `place` is its position in the file."""

    kind: RowKind
    name: str
    fields: dict[str, Any]
    place: tuple[str | int, ...]
    id: int | None = None
    links: dict[str, str | list[str]] = {}


def fault(place: tuple[str | int, ...], what: str, given: Any = None) -> Field:
    return Field(place, what, "value_error", given)


def country(name: str, code: str) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(Country(name, code))
    return fields
