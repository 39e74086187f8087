"""What every file of reference data is read into."""

from typing import Any, Literal

import msgspec

from app.domain.soccer import Country
from app.kit.errors import Field

Kind = Literal["category", "tournament", "team", "player", "soccer_competitor", "soccer_tournament"]


class Row(msgspec.Struct, frozen=True):
    """What a file says about one thing. `fields` are named after the domain's, except that `links` holds the
    names behind a field of numbers (a player's team, a tournament's teams). `place` is where it stands."""

    kind: Kind
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
