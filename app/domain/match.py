"""The state of one match: lifecycle, maps, the current round, and what is known and in doubt of it.

The structs are stored as JSON by field name; from 0.2.0 on a field that is renamed keeps its stored name.
"""

from enum import StrEnum
from typing import Literal
from uuid import UUID

import msgspec

from app.domain.loadout import Loadout
from app.domain.map_play import CurrentRound as CurrentRound
from app.domain.map_play import EventDoubt as EventDoubt
from app.domain.map_play import EventType as EventType
from app.domain.map_play import MapPlay as MapPlay
from app.domain.map_play import MatchPlayer as MatchPlayer
from app.domain.map_play import OtherDeath as OtherDeath
from app.domain.map_play import PlayerKills as PlayerKills
from app.domain.map_play import Round as Round
from app.domain.map_play import RoundResult as RoundResult
from app.domain.map_play import Side as Side
from app.domain.map_play import Team as Team
from app.domain.map_play import TimelineEvent as TimelineEvent
from app.domain.map_play import WinReason as WinReason
from app.domain.map_play import other_side as other_side
from app.domain.map_play import other_team as other_team
from app.domain.match_info import MatchInfo
from app.domain.references import NO_REFERENCES, MarketAnchor, ReferenceStatus
from app.domain.trading_controls import NO_CONTROLS, TradingControls

#: What restarts a map: the game server (a crash, the map loaded again, another server), a warm-up, or a
#: command in play.
RestartCause = Literal["server", "warmup", "command"]


class Status(StrEnum):
    """A match's lifecycle; `code` is `<sport_event_status status>` in the feed."""

    DISCOVERED = "discovered"
    UPCOMING = "upcoming"
    LIVE = "live"
    FINISHED = "finished"
    CANCELLED = "cancelled"

    @property
    def code(self) -> int:
        return _CODES[self]


BEFORE_PLAY = (Status.DISCOVERED, Status.UPCOMING)
_CODES = {Status.DISCOVERED: 0, Status.UPCOMING: 0, Status.LIVE: 1, Status.FINISHED: 4, Status.CANCELLED: 5}


class RosterEntry(msgspec.Struct, frozen=True):
    """The team of a player, as seen in play; it survives reconnects and changes of name."""

    account: int
    team: Team


class PlayerForm(msgspec.Struct, frozen=True, array_like=True):
    """A player's kills and rounds in earlier matches, each weighed by how long ago it was."""

    account: int
    kills: float = 0.0
    rounds: float = 0.0


class PendingMapEnd(msgspec.Struct, frozen=True):
    """The score by side that a map ended with, while it is unknown which team played which side."""

    map: int
    ct_score: int
    t_score: int


class Doubt(msgspec.Struct, frozen=True):
    """A reason to suspend the match. One of each kind at a time: `teams`, `score`, `sides`, `source`,
    `silent`, `restart`, `map`, `uncounted`, `rival`, `format`, `players`, `operator`, `rating`, `price`,
    `restored`, `restarted`, `unread`, `statistics`, `ended`."""

    kind: str
    reason: str


class FormatStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the number of rounds of a map comes from, and on which maps it is in doubt.

    `set_by` is who set it, "" where it is only assumed. `doubted_maps` are the maps whose format is in doubt;
    `sides_round` is the round at whose beginning the sides contradicted it (0: the log's own number did).
    `confirmed_map` is the map during which an operator set it last: its sides are not checked again.
    """

    set_by: Literal["", "log", "operator"] = ""
    doubted_maps: tuple[int, ...] = ()
    sides_round: int = 0
    confirmed_map: int = 0


class TeamPlayer(msgspec.Struct, frozen=True):
    """A player of one of the teams."""

    player: MatchPlayer
    team: Team


class Presence(msgspec.Struct, frozen=True, omit_defaults=True):
    """The map's players who left the server, and the bots that replace them. `coaches` are on a side, and no
    players. `unseen`: how many of home's and away's others the server's list does not have; less than 0 where
    it has more, as with a substitute."""

    absent: tuple[TeamPlayer, ...] = ()
    bots: tuple[TeamPlayer, ...] = ()
    coaches: tuple[TeamPlayer, ...] = ()
    unseen: tuple[int, int] = (0, 0)


class Restart(msgspec.Struct, frozen=True, omit_defaults=True):
    """The play since the server restarted the map at a lower score, while it is not known whether it counts.

    Nothing of it is published. `play` has every round of the map, of which those count that have been played
    since; `current` and `other_deaths` are as in `Match`. `cause`: what restarted the map; `kept`: an
    operator has decided that what was played before counts.
    """

    play: MapPlay
    cause: RestartCause
    current: CurrentRound | None = None
    other_deaths: tuple[OtherDeath, ...] = ()
    kept: bool = False


_ROUND_SECONDS, _FREEZE_SECONDS, _FUSE_SECONDS = 115.0, 15.0, 40.0


class ClockRules(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the server's settings say about time, in seconds; None where the log has not named them.

    `round_time` is `mp_roundtime`, `defuse_round_time` is `mp_roundtime_defuse` (0 where it is unset), which
    replaces it on maps with a bomb.
    """

    round_time: float | None = None
    defuse_round_time: float | None = None
    freeze_time: float | None = None
    fuse_time: float | None = None

    @property
    def round_seconds(self) -> float:
        return self.defuse_round_time or self.round_time or _ROUND_SECONDS

    @property
    def freeze_seconds(self) -> float:
        return _FREEZE_SECONDS if self.freeze_time is None else self.freeze_time

    @property
    def fuse_seconds(self) -> float:
        return self.fuse_time or _FUSE_SECONDS


class BombWork(msgspec.Struct, frozen=True, omit_defaults=True):
    """A plant or a defuse that a player began, at Unix ms. `kit`: a defuse with one."""

    player: MatchPlayer
    at: int
    kit: bool = False


class RoundKnowledge(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the log has shown of the round in play.

    Which lines a server writes depends on its settings, and some may be missing: a value counts as known only
    while the log shows what changes it. `hits` and `items`: such lines have come on this map.
    `all_equipment_known`: the log has shown every player's equipment since a half began, when nobody has any;
    otherwise `players` are those whose equipment is known (accounts, or names of bots). `froze_at` and
    `live_at`: when the freeze time's clock and the round's began (Unix ms), None where the line was not seen.
    `plant` and `defuse`: begun, and not known to have ended. `listed`: home's and away's players in the
    statistics block that is being read.
    """

    hits: bool = False
    items: bool = False
    all_equipment_known: bool = False
    players: tuple[int | str, ...] = ()
    froze_at: int | None = None
    live_at: int | None = None
    plant: BombWork | None = None
    defuse: BombWork | None = None
    listed: tuple[int, int] | None = None


class PlayerTotals(msgspec.Struct, frozen=True, array_like=True):
    """The kills of enemies and the deaths of a player, by Steam account."""

    account: int
    kills: int
    deaths: int


class RoundTally(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the log's events say of the round that was finished last, by its history id. `left` are the
    accounts of those who left the server in it: the server may count that as a death, or not."""

    round: int
    players: tuple[PlayerTotals, ...]
    left: tuple[int, ...] = ()


class StatisticsBlock(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last complete block: the players' `totals` on the map with this number (0: no map was in play)
    after the round with the history id `after` (0: none). `tally` is that of the round since then.
    `reading`: the rows of a block that is not complete yet."""

    map: int = 0
    after: int = 0
    totals: tuple[PlayerTotals, ...] | None = None
    tally: RoundTally | None = None
    reading: tuple[PlayerTotals, ...] | None = None


_OVER = (Status.FINISHED, Status.CANCELLED)  #: an enumeration's members are found slowly


class Match(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The whole state of one match, as one value: what `transitions` folds facts into. Times in Unix ms."""

    id: UUID
    number: int
    home: str
    away: str
    event: str
    best_of: int = 1
    status: Status = Status.UPCOMING
    scheduled_at: int | None = None
    started_at: int | None = None
    finished_at: int | None = None
    score_home: int = 0  #: maps won
    score_away: int = 0  #: maps won
    winner: Team | None = None
    maps: tuple[MapPlay, ...] = ()
    current: CurrentRound | None = None
    warmup: bool = False
    pause: str = ""  #: why play is paused, "" when it is not
    suspended: str = ""  #: why nothing may be offered during play: the first of `doubts`, or ""
    home_strength: float = 0.0
    away_strength: float = 0.0
    home_id: int | None = None
    away_id: int | None = None
    tournament_id: int | None = None
    #: The next unused `id` of a timeline event, a round or the end of a map.
    next_history_id: int = 1
    last_stamp: int = 0  #: the newest envelope timestamp of this match (docs/decisions/0009)
    last_seq: int = 0  #: the change-log number of its newest feed envelope (docs/decisions/0008)
    #: When the newest log batch that was applied arrived, also one without facts.
    last_arrived_at: int = 0
    doubts: tuple[Doubt, ...] = ()
    roster: tuple[RosterEntry, ...] = ()
    loaded: str = ""  #: the map that the server last named
    team_ct: str = ""  #: the team that the server last named on this side
    team_t: str = ""  #: the same
    #: The map begins again, or a backup is loaded: the next reported score or round shows what still counts.
    restarting: bool = False
    restart_cause: RestartCause | None = None  #: why it is `restarting`, where it begins again
    restoring: int | None = None  #: after how many rounds the backup is that is being loaded
    restart: Restart | None = None  #: the play since a restart at a lower score, while it is in doubt
    max_rounds: int = 24
    overtime_rounds: int = 6
    awarded: bool = False  #: an operator named the winner
    info: MatchInfo = MatchInfo()
    loadouts: tuple[Loadout, ...] = ()  #: the scoreboard: what each player carries in the current round
    #: Rounds last won in a row that could not be counted.
    uncounted_rounds: int = 0
    #: After the match: how many rounds another game on its server has counted; None while there is none.
    rounds_of_another: int | None = None
    format_status: FormatStatus = FormatStatus()
    handed_over: bool = False  #: another log source is followed now, and has not reported its score yet
    named_side: Side | None = None  #: the side that home begins the next map on, where an operator named it
    #: The newest facts were applied too late to price by.
    applied_late: bool = False
    presence: Presence = Presence()
    other_deaths: tuple[OtherDeath, ...] = ()  #: deaths without a kill
    #: The standard deviation of the strength, in points; 0: that of a strength from outside.
    home_strength_sd: float = 0.0
    away_strength_sd: float = 0.0
    #: The teams whose strength is their rating, or was imported; no operator has set it.
    follows_ratings: tuple[Team, ...] = ()
    ratings_version: int = 0  #: of its teams' ratings when strengths were last taken from them
    #: The end of the map in play that waits for its sides.
    pending_map_end: PendingMapEnd | None = None
    clock_rules: ClockRules = ClockRules()
    shown: RoundKnowledge = RoundKnowledge()  #: what is known of the current round beyond its events
    controls: TradingControls = NO_CONTROLS  #: what traders have set
    revision: int = 0  #: how many commands of operators have changed it
    statistics: StatisticsBlock | None = None  #: the game server's last statistics block
    anchor: MarketAnchor | None = None  #: what reference prices say, where they are followed
    #: Whether an operator wants reference prices followed on this match; None: as the installation's setting.
    follows_references: bool | None = None
    references: ReferenceStatus = NO_REFERENCES
    #: Whether head-to-heads of players may be on offer: every process reads their specifiers.
    head_to_heads: bool = True
    #: Of how many market types the process knew the rules that last settled its markets.
    types_known: int = 0
    #: The model that last set its prices; empty where a process did that which does not know this field.
    priced_by: str = ""
    #: Of the roster, as stored statistics have it. A process of the version before drops it, and the next one
    #: that knows it reads it again.
    player_forms: tuple[PlayerForm, ...] = ()

    @property
    def over(self) -> bool:
        return self.status in _OVER

    @property
    def map(self) -> MapPlay | None:
        """The map being played, or None between maps."""
        for play in self.maps:  # a generator would cost three times as much, for each line of a log
            if play.status == "live":
                return play
        return None


class MatchSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `<sport_event_status>` and the basic match shape need; stored with each match change."""

    number: int
    status: Status
    home: str
    away: str
    score_home: int = 0
    score_away: int = 0
    winner: Team | None = None
    home_id: int | None = None
    away_id: int | None = None
    maps: tuple[MapPlay, ...] = ()
    round: int | None = None
    pause: str = ""


def summarize(match: Match) -> MatchSummary:
    """The short form of a match; its maps carry no rounds."""
    return MatchSummary(
        number=match.number,
        status=match.status,
        home=match.home,
        away=match.away,
        score_home=match.score_home,
        score_away=match.score_away,
        winner=match.winner,
        home_id=match.home_id,
        away_id=match.away_id,
        maps=tuple(msgspec.structs.replace(play, rounds=()) for play in match.maps),
        round=match.current.number if match.current else None,
        pause=match.pause,
    )
