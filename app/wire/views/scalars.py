"""Team slots and times as the interface spells them."""

from typing import Literal

from app.domain.match import Slot
from app.kit.clock import iso_seconds

Team = Literal["team_a", "team_b"]
_TEAMS: dict[Slot, Team] = {"home": "team_a", "away": "team_b"}


def team(slot: Slot | None) -> Team | None:
    return _TEAMS[slot] if slot else None


def iso_time(at: int | None) -> str | None:
    """Unix ms as ISO 8601 in whole seconds; None stays None."""
    return None if at is None else iso_seconds(at)
