"""Teams and times as the interface spells them."""

from typing import Literal

from app.domain.match import Team
from app.kit.clock import iso_seconds

TeamName = Literal["team_a", "team_b"]
_TEAM_NAMES: dict[Team, TeamName] = {"home": "team_a", "away": "team_b"}


def team_name(team: Team | None) -> TeamName | None:
    return _TEAM_NAMES[team] if team else None


def iso_time(at: int | None) -> str | None:
    """Unix ms as ISO 8601 in whole seconds; None stays None."""
    return None if at is None else iso_seconds(at)
