"""What happened in a simulated match: the record beside the lines.

It has only what counts, nothing of warm-up and knife rounds. Slots are `home` and `away`, sides `CT`
and `T`, reasons those of a round's win.
"""

from dataclasses import dataclass, field
from typing import Literal

Team = Literal["home", "away"]
Side = Literal["CT", "T"]
Reason = Literal["kills", "bomb", "time", "defuse"]


def other_side(side: Side) -> Side:
    return "T" if side == "CT" else "CT"


@dataclass(frozen=True)
class KillTruth:
    """One kill; with `side` equal to `victim_side` it was a team kill. Players by account number."""

    killer: int
    side: Side
    victim: int
    victim_side: Side
    weapon: str
    headshot: bool
    penetrated: bool
    assister: int | None = None


@dataclass
class RoundTruth:
    number: int
    winner: Team
    side: Side
    reason: Reason
    home_score: int
    away_score: int
    bomb_site: str = ""
    kills: list[KillTruth] = field(default_factory=list)
    mishaps: list[int] = field(default_factory=list)  #: accounts of those who died without a killer


@dataclass
class MapTruth:
    """`knife` says whether a knife round came before.

    `voided` are rounds that were finished and then replayed; `anomalies` names what went
    wrong on the way, in order. `form`: how much better each team played than its points say, in logits of
    a round.
    """

    name: str
    knife: bool = False
    rounds: list[RoundTruth] = field(default_factory=list)
    home_score: int = 0
    away_score: int = 0
    winner: Team | None = None
    voided: list[RoundTruth] = field(default_factory=list)
    form: dict[Team, float] = field(default_factory=dict)
    anomalies: list[str] = field(default_factory=list)


@dataclass
class SeriesTruth:
    home: str
    away: str
    best_of: int
    maps: list[MapTruth] = field(default_factory=list)
    winner: Team | None = None

    def maps_won(self, team: Team) -> int:
        return sum(played.winner == team for played in self.maps)
