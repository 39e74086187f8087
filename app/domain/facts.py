"""Facts: what a match's log reports to have happened. They are the input of `transitions`.

`ingest` parses log lines into these; nothing here depends on a log's spelling. A fact may change nothing (a
repeated line, play in warm-up). Some become a timeline event, a round or the end of a map, which has an id
unique within the match (its history id, `Match.next_history_id`): settlements rest on these (`rests_on`).
`at` is when it happened, in Unix ms on our own clock (arrival time, spread by the log's seconds).
"""

import msgspec

from app.domain.map_play import Coordinates
from app.domain.match import EventDoubt, MatchPlayer, Side, WinReason


class Fact(msgspec.Struct, frozen=True, kw_only=True, tag=True, gc=False):
    at: int


class MapLoaded(Fact, frozen=True):
    name: str


class FormatSet(Fact, frozen=True):
    """`mp_maxrounds` or `mp_overtime_maxrounds`; None for the one that the line does not set."""

    max_rounds: int | None = None
    overtime_rounds: int | None = None


class ClockSet(Fact, frozen=True):
    """A setting of the server about time, in seconds, under its name in `match.ClockRules`."""

    name: str
    seconds: float


class WarmupStarted(Fact, frozen=True):
    pass


class WarmupEnded(Fact, frozen=True):
    pass


class PlayStarted(Fact, frozen=True):
    """`Match_Start`: the map starts (again) from nothing; rounds seen before it do not count."""

    map_name: str


class RestartAnnounced(Fact, frozen=True):
    """`Restart_Round_(n_seconds)`."""


class SideNamed(Fact, frozen=True):
    """Which team plays which side now."""

    side: Side
    team: str


class SideSwitched(Fact, frozen=True):
    """A player was moved from one side to the other; at half-time all of them are."""

    player: MatchPlayer
    side: Side


class PlayerLeft(Fact, frozen=True):
    """A player left the server, or joined the spectators. `side` is their last one, where the line has it."""

    player: MatchPlayer
    side: Side | None = None


class PlayerJoined(Fact, frozen=True):
    """A player, or a bot that replaces one, joined a side."""

    player: MatchPlayer
    side: Side


class ItemAcquired(Fact, frozen=True):
    """A player bought or picked up something; where sides are unknown, `side` helps to infer them.

    `item` is what they now have and did not have before, in the game's spelling; "" for none.
    """

    player: MatchPlayer
    side: Side
    item: str = ""


class Equipped(Fact, frozen=True):
    """All that a player carries, in the game's spelling."""

    player: MatchPlayer
    side: Side
    items: tuple[str, ...]


class ItemLost(Fact, frozen=True):
    """A player threw or dropped something."""

    player: MatchPlayer
    item: str


class MoneyChanged(Fact, frozen=True):
    """A player's money now. The name may be missing: statistics lines have the account only. `refund` is what
    they got for an item that they gave back."""

    player: MatchPlayer
    side: Side
    money: int
    refund: int = 0


class ListBegun(Fact, frozen=True):
    """The statistics block of a freeze time begins: a row for each player on the server. Without
    `columns_known` its rows mean something else."""

    columns_known: bool = True


class PlayerListed(Fact, frozen=True):
    """A row of that block; the player has no name, and a bot no account either. `kills` of enemies and
    `deaths` are those since the map began."""

    player: MatchPlayer
    side: Side
    money: int
    kills: int
    deaths: int


class ListEnded(Fact, frozen=True):
    pass


class Hurt(Fact, frozen=True):
    """A player's health and armour after a hit. `shooter`: who shot; None for grenades and fire."""

    victim: MatchPlayer
    side: Side
    health: int
    armour: int
    shooter: MatchPlayer | None = None


class FreezeStarted(Fact, frozen=True):
    pass


class RoundStarted(Fact, frozen=True):
    pass


class Killed(Fact, frozen=True):
    """`victim_side` equal to `side` is a team kill. `flags` are further words of the log about it."""

    killer: MatchPlayer
    side: Side
    victim: MatchPlayer
    victim_side: Side
    weapon: str
    headshot: bool = False
    penetrated: bool = False
    position: Coordinates | None = None
    victim_position: Coordinates | None = None
    flags: tuple[str, ...] = ()


class Assisted(Fact, frozen=True):
    """By blinding the victim, too (`flash`). Of two assists of one kill the first reported counts."""

    assister: MatchPlayer
    victim: MatchPlayer
    flash: bool = False


class Died(Fact, frozen=True):
    """A death without a kill: world, bomb, suicide."""

    victim: MatchPlayer
    side: Side


class BombPlanted(Fact, frozen=True):
    player: MatchPlayer
    site: str


class PlantBegun(Fact, frozen=True):
    player: MatchPlayer


class DefuseBegun(Fact, frozen=True):
    player: MatchPlayer
    kit: bool = False


class BombDefused(Fact, frozen=True):
    player: MatchPlayer


class BombExploded(Fact, frozen=True):
    pass


class RoundWon(Fact, frozen=True):
    """The score that the line carries is after the round, by side."""

    side: Side
    reason: WinReason
    ct_score: int
    t_score: int


class RoundEnded(Fact, frozen=True):
    pass


class ScoreReported(Fact, frozen=True):
    """`MatchStatus: Score:` CT:T; `rounds_played` is -1 before play."""

    ct_score: int
    t_score: int
    rounds_played: int
    map_name: str = ""


class Surrendered(Fact, frozen=True):
    """A round ended because the team on the other side gave the map up."""

    winner: Side


class EndOverdue(Fact, frozen=True):
    """The rules have decided the map, and the log has not reported its end in time."""


class Paused(Fact, frozen=True):
    reason: str


class Resumed(Fact, frozen=True):
    reason: str


class RestoreAnnounced(Fact, frozen=True):
    """A backup is being loaded: rounds after `round` become void once the reported score goes back."""

    round: int


class MapEnded(Fact, frozen=True):
    """`Game Over`: the map's final score by side."""

    map_name: str
    ct_score: int
    t_score: int


class DataLost(Fact, frozen=True):
    """Data is missing (a gap in the offsets, a batch that cannot be read): nothing may stay on offer."""

    reason: str


class LineNotUnderstood(Fact, frozen=True):
    """A line that looks like play and cannot be parsed; `about`: what of a round's events it may be, ""
    where it is about the score. `of_no_log`: nothing that was sent with it is a line of a log."""

    about: EventDoubt = ""
    of_no_log: bool = False


class DataComplete(Fact, frozen=True):
    """From here on no data is missing: a gap's doubt ends."""


class SilenceEnded(Fact, frozen=True):
    """Lines arrive again after a silence in which none was lost: its doubt ends."""


class SourceChanged(Fact, frozen=True):
    """From here on another sender of the log is followed."""


class RivalSeen(Fact, frozen=True):
    """A rival: a sender that is not followed sends play of this match."""


class RivalsGone(Fact, frozen=True):
    """No rival sends play of this match any more, or an operator dismissed those that do."""
