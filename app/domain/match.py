"""The state of one match: lifecycle, maps, rounds, and the current round.

Every fact that something can rest on (a finished round, a kill, a bomb event, a map end) carries a
running number `id` (its history id), unique within the match and never used again, so that a settlement
can name it and can be recomputed. Rounds voided by a restart or a restore keep their ids and leave the score.

The structs are stored as JSON by field name; from 0.2.0 on a field that is renamed keeps its stored name.
"""

from typing import Literal
from uuid import UUID

import msgspec
from propcache.api import cached_property

from app.domain.equipment_value import CarriedValue
from app.domain.kill_details import KillDetails
from app.domain.loadout import Loadout
from app.domain.match_info import MatchInfo
from app.domain.player import MatchPlayer as MatchPlayer
from app.domain.player import PlayerKills as PlayerKills
from app.domain.player import Side as Side
from app.domain.player import Team as Team
from app.domain.player import other_side as other_side
from app.domain.player import other_team as other_team
from app.domain.score_rules import is_decided
from app.domain.shown import ClockRules, RoundKnowledge
from app.domain.statistics_block import StatisticsBlock
from app.domain.status import Status as Status
from app.domain.trading_controls import NO_CONTROLS, TradingControls

WinReason = Literal["kills", "bomb", "time", "defuse"]
EventType = Literal["kill", "bomb_planted", "bomb_defused", "bomb_exploded"]
#: Why the events of a round are in doubt: a line that was not understood, about kills or the bomb, or the
#: server's statistics, which contradict them.
EventDoubt = Literal["", "kill_line", "bomb_line", "statistics"]
#: What restarts a map: the game server (a crash, the map loaded again, another server), a warm-up, or a
#: command in play.
RestartCause = Literal["server", "warmup", "command"]


class TimelineEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that happened in a round. `at` is Unix ms by our clock, derived from the arrival of its batch
    and the log's own times (`ingest.log_update`); `offset_ms` counts from the round's start. Team kills have
    equal teams. `late`: it came after the round was decided, so it is in the timeline and decides nothing."""

    id: int
    type: EventType
    map: int
    round: int
    at: int
    offset_ms: int
    actor: MatchPlayer | None = None
    actor_team: Team | None = None
    side: Side | None = None
    target: MatchPlayer | None = None
    target_team: Team | None = None
    target_side: Side | None = None
    assister: MatchPlayer | None = None
    weapon: str = ""
    headshot: bool = False
    penetrated: bool = False
    site: str = ""
    late: bool = False
    void: bool = False
    details: KillDetails | None = None

    @property
    def counts_for_markets(self) -> bool:
        """A kill that markets count: not of a team mate, not after the decision."""
        return self.on_scoreboard and not self.late

    @property
    def on_scoreboard(self) -> bool:
        """A kill on the server's scoreboard: not of a team mate. It goes on until the next freeze."""
        return self.type == "kill" and self.actor_team != self.target_team and not self.void


class OtherDeath(msgspec.Struct, frozen=True):
    """A death without a kill: a fall, the bomb, suicide."""

    map: int
    round: int
    player: MatchPlayer
    team: Team


class Round(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finished round. `home_score`/`away_score` are rounds won after it, on this map.

    `events` are the history ids of its timeline. `gap`: data was missing while it was played, so its timeline
    may lack something; winner, side and reason are as reported. `worth` is the equipment value of home and
    away in it, None where the log did not show it for all five players. `kills` are those of each player who
    killed or was killed, by account; None in rounds that were stored without. `previous` is the history id of
    the round that it was played after, on the same branch of the map's history (`branches`): 0 for none, None
    in rounds that were stored without. `other_deaths` are the deaths in it without a kill. What rests on its
    events waits while they are in doubt (`doubted_by`).
    """

    id: int
    map: int
    number: int
    winner: Team
    winning_side: Side
    win_reason: WinReason
    home_score: int
    away_score: int
    started_at: int
    ended_at: int
    bomb_site: str = ""
    events: tuple[int, ...] = ()
    gap: bool = False
    worth: tuple[int | None, int | None] = (None, None)
    void: bool = False
    kills: tuple[PlayerKills, ...] | None = None
    previous: int | None = None
    other_deaths: tuple[OtherDeath, ...] = ()
    doubted_by: EventDoubt = ""

    @property
    def home_side(self) -> Side:
        """The side that home played in this round."""
        return self.winning_side if self.winner == "home" else other_side(self.winning_side)

    @property
    def score_before(self) -> tuple[int, int]:
        """Home's and away's rounds when this one began."""
        return self.home_score - (self.winner == "home"), self.away_score - (self.winner == "away")


class MapPlay(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """One map of the series. `number` counts from 1; scores are rounds won; `home_side` is the side
    that home plays now (None while unknown). `end_id` is the history id of the map's end.

    `side_before_break` is home's side before a break at which sides may change, until the first round after
    it is won: the server's team lines still name the old sides during that break. `unseen` numbers the rounds
    that are in the reported score but whose end was not in the log. `awarded`: an operator named its winner,
    or a team surrendered; the score is as far as it was played. `end_assumed`: the log did not report its
    end, it ended by the rules.
    """

    number: int
    name: str = ""
    status: Literal["upcoming", "live", "finished"] = "upcoming"
    home_score: int = 0
    away_score: int = 0
    winner: Team | None = None
    home_side: Side | None = None
    side_before_break: Side | None = None
    rounds: tuple[Round, ...] = ()
    unseen: tuple[int, ...] = ()
    started_at: int | None = None
    finished_at: int | None = None
    end_id: int | None = None
    max_rounds: int = 24
    overtime_rounds: int = 6
    picked_by: Team | None = None
    awarded: bool = False
    end_assumed: bool = False

    @cached_property
    def counted(self) -> tuple[Round, ...]:
        """The rounds that are not void, in order."""
        return tuple([played for played in self.rounds if not played.void])

    @cached_property
    def in_doubt(self) -> tuple[Round, ...]:
        """The rounds that are not void and whose events are in doubt."""
        return tuple([played for played in self.counted if played.doubted_by])

    @property
    def rounds_won(self) -> int:
        return self.home_score + self.away_score

    @property
    def decided(self) -> bool:
        """One side has won by the rules, or the map ended level; it stays so when play goes on."""
        return self.decides(self.home_score, self.away_score) or len(self.rounds_until_decision) < len(
            self.counted
        )

    @cached_property
    def rounds_until_decision(self) -> tuple[Round, ...]:
        """The rounds that are not void, in order, before the one that decided the map by the rules.

        Servers may play on after that. Only the map's end shows whether those rounds count.
        """
        counted, most, overtime = self.counted, self.max_rounds, self.overtime_rounds
        for index, played in enumerate(counted):
            if is_decided(played.home_score, played.away_score, most, overtime):
                return counted[:index]
        return counted

    @property
    def rounds_through_decision(self) -> tuple[Round, ...]:
        """`rounds_until_decision`, and the round that decided the map, if it was seen: what was played before
        the map was decided by the rules."""
        counted, known = self.counted, len(self.rounds_until_decision)
        deciding = counted[known : known + 1]
        return counted[: known + sum(not self.decides(*one.score_before) for one in deciding)]

    def decides(self, home: int, away: int) -> bool:
        """Whether this score ends the map by the rules, or could come only after one that did."""
        return is_decided(home, away, self.max_rounds, self.overtime_rounds)


class RoundResult(msgspec.Struct, frozen=True):
    """How a round ended, by the log; scores are by side, after the round."""

    side: Side
    reason: WinReason
    ct_score: int
    t_score: int
    at: int


class CurrentRound(msgspec.Struct, frozen=True, omit_defaults=True):
    """The round being played. `freeze`: buying, not yet live; `live`; `over`: won, next freeze not seen.
    `events`: this round's facts so far, in order; `carried`: equipment with which players left the buy zone;
    `dead`: who died; `defusers`: who began to defuse; `gap`: data was missing in this round.

    `knife`: the first round, and nothing but knives has killed: its `withheld` events and `pending_result`
    are not published until the log shows that the round counted. A result also waits while it is unknown
    which team played the winning side. `break_over`: the freeze after a waiting result was seen.
    """

    map: int
    number: int
    phase: Literal["freeze", "live", "over"] = "freeze"
    started_at: int | None = None
    events: tuple[TimelineEvent, ...] = ()
    alive_home: int = 5
    alive_away: int = 5
    opened_at: int = 0
    knife: bool = False
    withheld: tuple[TimelineEvent, ...] = ()
    pending_result: RoundResult | None = None
    break_over: bool = False
    dead: tuple[MatchPlayer, ...] = ()
    defusers: tuple[MatchPlayer, ...] = ()
    gap: bool = False
    carried: tuple[CarriedValue, ...] = ()
    doubted_by: EventDoubt = ""


class RosterEntry(msgspec.Struct, frozen=True):
    """The team of a player, as seen in play; it survives reconnects and changes of name."""

    account: int
    team: Team


class PendingMapEnd(msgspec.Struct, frozen=True):
    """The score by side that a map ended with, while it is unknown which team played which side."""

    map: int
    ct_score: int
    t_score: int


class Doubt(msgspec.Struct, frozen=True):
    """A reason to suspend the match. One of each kind at a time: `teams`, `score`, `sides`, `source`,
    `silent`, `restart`, `map`, `uncounted`, `rival`, `format`, `players`, `operator`, `rating`, `price`,
    `restored`, `restarted`, `unread`, `statistics`."""

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
    operator has decided that what was played before stands.
    """

    play: MapPlay
    cause: RestartCause
    current: CurrentRound | None = None
    other_deaths: tuple[OtherDeath, ...] = ()
    kept: bool = False


class Match(msgspec.Struct, frozen=True, omit_defaults=True):
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
    #: Of how many market types the process knew the rules that last settled its markets.
    types_known: int = 0

    @property
    def over(self) -> bool:
        return self.status in (Status.FINISHED, Status.CANCELLED)

    @property
    def map(self) -> MapPlay | None:
        """The map being played, or None between maps."""
        for play in self.maps:  # a generator would cost three times as much, for each line of a log
            if play.status == "live":
                return play
        return None
