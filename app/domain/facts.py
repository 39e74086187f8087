"""What a source can say about a match: the input of `transitions`.

`ingest` turns log lines (and operator commands) into these; nothing here knows a log's spelling.
`at` is when it happened, in Unix ms on our own clock (arrival time, spread by the source's seconds).
"""

from typing import Literal

import msgspec

from app.domain.match import Player, Side


class Fact(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    at: int


class MapLoaded(Fact):
    name: str


class FormatSet(Fact):
    """`mp_maxrounds` or `mp_overtime_maxrounds`, whichever is given."""

    max_rounds: int | None = None
    overtime_rounds: int | None = None


class WarmupStarted(Fact):
    pass


class WarmupEnded(Fact):
    pass


class PlayStarted(Fact):
    """`Match_Start`: the map starts (again) from nothing; rounds seen before it do not count."""

    map_name: str


class RestartAnnounced(Fact):
    """`Restart_Round_(n_seconds)`."""


class SideNamed(Fact):
    """Which team plays which side now."""

    side: Side
    team: str


class FreezeStarted(Fact):
    pass


class RoundStarted(Fact):
    pass


class Killed(Fact):
    """`victim_side` equal to `side` is a team kill."""

    killer: Player
    side: Side
    victim: Player
    victim_side: Side
    weapon: str
    headshot: bool = False
    penetrated: bool = False


class Assisted(Fact):
    assister: Player
    victim: Player


class Died(Fact):
    """A death nobody gets a kill for: world, bomb, suicide."""

    victim: Player
    side: Side


class BombPlanted(Fact):
    player: Player
    site: str


class BombDefused(Fact):
    player: Player


class BombExploded(Fact):
    pass


class RoundWon(Fact):
    """The score that the line carries is after the round, by side."""

    side: Side
    reason: Literal["kills", "bomb", "time", "defuse"]
    ct_score: int
    t_score: int


class RoundEnded(Fact):
    pass


class ScoreTold(Fact):
    """`MatchStatus: Score:` CT:T; `rounds_played` is -1 before play."""

    ct_score: int
    t_score: int
    rounds_played: int


class Paused(Fact):
    reason: str


class Resumed(Fact):
    reason: str


class RestoreAnnounced(Fact):
    """A round was restored from a backup: rounds after `round` are void."""

    round: int


class MapEnded(Fact):
    """`Game Over`: the map's final score by side."""

    map_name: str
    ct_score: int
    t_score: int


class SourceLost(Fact):
    """Data is missing (a hole in the offsets, silence): nothing may stay on offer."""

    reason: str


class SourceBack(Fact):
    pass
