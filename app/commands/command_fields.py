"""What the commands on a match share: the types of their fields, and what every command has."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from app.domain.entrants import MAX_STRENGTH
from app.domain.match import Team

Name = Annotated[str, Meta(min_length=1, max_length=120)]
Words = Annotated[str, Meta(max_length=500)]
Address = Annotated[str, Meta(pattern=r"^(https?://\S{1,1000})?$")]
Moment = Annotated[int, Meta(ge=0, le=253_402_300_799_999)]
Number = Annotated[int, Meta(ge=1, le=2_147_483_647)]
Strength = Annotated[float, Meta(ge=0, le=MAX_STRENGTH)]
Rounds = Annotated[int, Meta(ge=2, le=100, multiple_of=2)]
Overtime = Annotated[int, Meta(ge=0, le=20, multiple_of=2)]
TeamName = Literal["team_a", "team_b"]
BestOf = Literal["bo1", "bo3", "bo5"]
_TEAMS: dict[TeamName, Team] = {"team_a": "home", "team_b": "away"}


def team_of(name: TeamName) -> Team:
    return _TEAMS[name]


class Command(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="command"):
    """A command on a match. `revision` is the match's as its sender saw it: the command is refused if that of
    somebody else has been executed since."""

    request_id: Annotated[str, Meta(min_length=1, max_length=120)] | None = None
    revision: Annotated[int, Meta(ge=0)] | None = None
