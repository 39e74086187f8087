"""The state of a map being played: teams, sides, score, money, and the lines that only show that state."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from app.sandbox.simulator import log_lines
from app.sandbox.simulator.economy import LossBonus, SimulatedPlayer
from app.sandbox.simulator.fictional_world import FictionalPlayer, FictionalTeam, MapProfile
from app.sandbox.simulator.log_lines import LogWriter
from app.sandbox.simulator.round_plan import PlayerRef
from app.sandbox.simulator.truth import MapTruth, Side, Team, other_side

SIDES: tuple[Side, Side] = ("CT", "T")
#: Rounds of regulation and of an overtime; seconds of freeze time.
ROUNDS, OVERTIME_ROUNDS, FREEZE = 24, 6, 15
_SPECTATOR = SimulatedPlayer(FictionalPlayer("", 0, 0.0), 0, money=0)


@dataclass
class SimulatedTeam:
    team: Team
    profile: FictionalTeam
    players: list[SimulatedPlayer]
    loss_bonus: LossBonus = field(default_factory=LossBonus)
    #: Form on this map in logits, and rounds won in a row.
    form: float = 0.0
    streak: int = 0


@dataclass
class MapState:
    """`home_side` is the side that home plays now; `played` counts finished rounds, of `rounds` without
    overtimes."""

    rng: Random
    log: LogWriter
    map_profile: MapProfile
    home: SimulatedTeam
    away: SimulatedTeam
    truth: MapTruth
    home_side: Side = "CT"
    home_score: int = 0
    away_score: int = 0
    rounds: int = ROUNDS

    @property
    def played(self) -> int:
        return self.home_score + self.away_score

    @property
    def teams(self) -> tuple[SimulatedTeam, SimulatedTeam]:
        return self.home, self.away

    def team_on(self, side: Side) -> SimulatedTeam:
        return self.home if side == self.home_side else self.away

    def side_of(self, team: SimulatedTeam) -> Side:
        return self.home_side if team is self.home else other_side(self.home_side)

    def score(self, side: Side) -> int:
        return self.home_score if side == self.home_side else self.away_score

    def player(self, ref: PlayerRef) -> SimulatedPlayer:
        team = self.home if ref[0] == self.home_side else self.away
        return team.players[ref[1]]

    def tag(self, ref: PlayerRef) -> str:
        player = self.player(ref)
        return log_lines.player(player.profile.name, player.slot, player.profile.account, ref[0])

    def money_tag(self, ref: PlayerRef) -> str:
        """In lines about money the player's slot is one higher than in all others."""
        player = self.player(ref)
        return log_lines.player(player.profile.name, player.slot + 1, player.profile.account, ref[0])

    def refs(self) -> Iterator[PlayerRef]:
        return ((side, index) for side in SIDES for index in range(5))

    def pay(self, ref: PlayerRef, amount: int, what: str = "") -> None:
        before, after = self.player(ref).earn(amount)
        self.log.write(log_lines.money(self.money_tag(ref), before, amount, after, what))

    def names(self) -> tuple[str, str]:
        """The teams' names, CT's first."""
        return self.team_on("CT").profile.name, self.team_on("T").profile.name

    def write_status(self, played: int) -> None:
        ct, t = self.score("CT"), self.score("T")
        self.log.write(*log_lines.match_status(*self.names(), ct, t, self.map_profile.name, played))

    def write_scores(self) -> None:
        self.log.write(*(log_lines.scored(side, self.score(side)) for side in SIDES))

    def write_freeze(self) -> None:
        """The freeze's line and the statistics block that follows it."""
        rows = [_row(0, 0, _SPECTATOR, self.played), *self._rows()]
        number = self.played + 1
        block = log_lines.round_stats(number, self.score("CT"), self.score("T"), self.map_profile.name, rows)
        self.log.write("Starting Freeze period", *block)

    def write_match_start(self, played: int) -> None:
        self.log.write(log_lines.match_start(self.map_profile.name), *log_lines.teams_playing(*self.names()))
        self.write_status(played)

    def _rows(self) -> Iterator[str]:
        players = sorted(
            ((player, self.side_of(team)) for team in self.teams for player in team.players),
            key=lambda k: k[0].slot,
        )
        for player, side in players:
            yield _row(player.profile.account, 2 if side == "T" else 3, player, self.played)

    def change_sides(self) -> None:
        for side, index in self.refs():
            player = self.player((side, index))
            who = f'"{player.profile.name}<{player.slot}><[U:1:{player.profile.account}]>"'
            move = f"<{log_lines.TEAM[side]}> to <{log_lines.TEAM[other_side(side)]}>"
            self.log.write(f"{who} switched from team {move}")
        self.home_side = other_side(self.home_side)

    def start_half(self, money: int) -> None:
        """Everybody starts with this money, a pistol and no lost rounds."""
        for team in self.teams:
            team.loss_bonus = LossBonus()
            team.streak = 0
            for player in team.players:
                player.money = money
                player.lose_equipment(self.side_of(team))


def _row(account: int, team: int, player: SimulatedPlayer, played: int) -> str:
    """A player's columns of the statistics block, in the order of `log_lines.FIELDS`."""
    headshots = 100 * player.headshots / player.kills if player.kills else 0.0
    ratio = player.kills / player.deaths if player.deaths else 0.0
    whole = [team, player.money, player.kills, player.deaths, player.assists]
    average = player.damage // played if played else 0
    after = [average, player.mvps, *[0] * 6, player.first_kills, *[0] * 3]
    columns = [
        f"{account:>20}",
        *(f"{number:>7}" for number in whole),
        *(f"{number:>7.2f}" for number in (player.damage, headshots, ratio)),
        *(f"{number:>7}" for number in after),
        *("0.000000", "0.000000", "      0", "      0", "      0"),
    ]
    return ",".join(columns)
