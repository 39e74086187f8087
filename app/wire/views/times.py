"""Times and slots as resources show them."""

from typing import Literal

from app.domain.match import Slot
from app.kit.clock import iso_seconds

TeamSlot = Literal["team_a", "team_b"]
_SLOTS: dict[Slot, TeamSlot] = {"home": "team_a", "away": "team_b"}


def time(ms: int | None) -> str | None:
    return None if ms is None else iso_seconds(ms)


def slot(value: Slot | None) -> TeamSlot | None:
    return None if value is None else _SLOTS[value]
