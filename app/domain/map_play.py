"""What is played: players and sides, and the maps and rounds of a match with the events in them.

Every fact that something can rest on (a finished round, a kill, a bomb event, a map end) carries a
running number `id` (its history id), unique within the match and never used again, so that a settlement
can name it and can be recomputed. Rounds voided by a restart or a restore keep their ids and leave the score.

The structs are stored as JSON by field name; from 0.2.0 on a field that is renamed keeps its stored name.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

import msgspec
from propcache.api import cached_property

Team = Literal["home", "away"]  #: home is the interface's team_a
Side = Literal["CT", "T"]


def other_side(side: Side) -> Side:
    return "T" if side == "CT" else "CT"


def other_team(team: Team) -> Team:
    return "away" if team == "home" else "home"


class PlayerKills(msgspec.Struct, frozen=True, array_like=True):
    """The history ids of a player's kills in one round, as on the server's scoreboard: kills of team mates
    do not count, those after the round's decision do. Empty for a player who only died."""

    account: int
    ids: tuple[int, ...]


class MatchPlayer(msgspec.Struct, frozen=True, gc=False):
    """A player of a match, as the log names them; `entrants.Player` is the person in reference
    data. `account` is the 32-bit Steam account number, 0 for a bot."""

    account: int
    name: str

    @property
    def key(self) -> int | str:
        """What identifies the player within the match: the account, or the name of a bot."""
        return self.account or self.name


WinReason = Literal["kills", "bomb", "time", "defuse"]
EventType = Literal["kill", "bomb_planted", "bomb_defused", "bomb_exploded"]
#: Why the events of a round are in doubt: a line that was not understood, about kills or the bomb, or the
#: server's statistics, which contradict them.
EventDoubt = Literal["", "kill_line", "bomb_line", "statistics"]
#: A player (account, or name of a bot), the side, and the value of the equipment; stored in this order.
CarriedValue = tuple[int | str, Side, int | None]

Coordinates = tuple[int, int, int]  #: a place on a map, in the game's units


class KillDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where both stood, further words about it in the log's spelling, and whether the assister had blinded
    the victim."""

    actor_position: Coordinates | None = None
    target_position: Coordinates | None = None
    flags: tuple[str, ...] = ()
    flash_assist: bool = False


NO_DETAILS = KillDetails()


class TimelineEvent(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
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
        """A kill on the server's scoreboard: not of a team mate. It goes on until the next freeze. While it
        is not known which team plays which side, sides are compared."""
        if self.type != "kill" or self.void:
            return False
        if self.actor_team is None and self.target_team is None:
            return self.side != self.target_side
        return self.actor_team != self.target_team


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


def player_kills(events: Iterable[TimelineEvent]) -> tuple[PlayerKills, ...]:
    """The kills of everybody who killed or was killed in these events, by account; bots are left out."""
    found: dict[int, tuple[int, ...]] = {}
    for event in events:
        if event.type != "kill" or event.void:
            continue
        for player in (event.actor, event.target):
            if player is not None and player.account:
                found.setdefault(player.account, ())
        if event.on_scoreboard and event.actor is not None and event.actor.account:
            found[event.actor.account] += (event.id,)
    return tuple(PlayerKills(account, ids) for account, ids in sorted(found.items()))


@lru_cache(maxsize=4096)
def is_decided(home: int, away: int, max_rounds: int, overtime_rounds: int) -> bool:
    """Whether a map's score is one from which play does not go on by the rules of this format."""
    least, most = sorted((home, away))
    half, step = max_rounds // 2, overtime_rounds // 2
    if most <= half:
        return least == half and not step
    # Both must have come as far as the overtime in which one got ahead, or the map ended before it.
    return not step or least < half + (most - half - 1) // step * step


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

    @property
    def last_counted(self) -> Round | None:
        """The last round that is not void."""
        return self.counted[-1] if self.counted else None

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
