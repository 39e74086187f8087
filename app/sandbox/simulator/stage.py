"""A map while it is played: teams, sides, score, money, and the lines that only show that state."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from app.sandbox.simulator import lines
from app.sandbox.simulator.economy import Bank, Kit
from app.sandbox.simulator.log import Log
from app.sandbox.simulator.plot import Seat
from app.sandbox.simulator.truth import MapTruth, Side, Slot, other_side
from app.sandbox.simulator.world import Arena, Gamer, Squad

SIDES: tuple[Side, Side] = ("CT", "T")
#: Rounds of regulation and of an overtime; seconds of freeze time.
ROUNDS, OVERTIME_ROUNDS, FREEZE = 24, 6, 15
_SPECTATOR = Kit(Gamer("", 0, 0.0), 0, money=0)


@dataclass
class Team:
    slot: Slot
    squad: Squad
    kits: list[Kit]
    bank: Bank = field(default_factory=Bank)
    #: Form of the day in logits, and rounds won in a row.
    form: float = 0.0
    streak: int = 0


@dataclass
class Stage:
    """`home_side` is the side that home plays now; `played` counts finished rounds."""

    rng: Random
    log: Log
    arena: Arena
    home: Team
    away: Team
    truth: MapTruth
    home_side: Side = "CT"
    home_score: int = 0
    away_score: int = 0

    @property
    def played(self) -> int:
        return self.home_score + self.away_score

    @property
    def teams(self) -> tuple[Team, Team]:
        return self.home, self.away

    def on(self, side: Side) -> Team:
        return self.home if side == self.home_side else self.away

    def side_of(self, team: Team) -> Side:
        return self.home_side if team is self.home else other_side(self.home_side)

    def score(self, side: Side) -> int:
        return self.home_score if side == self.home_side else self.away_score

    def kit(self, seat: Seat) -> Kit:
        return self.on(seat[0]).kits[seat[1]]

    def tag(self, seat: Seat) -> str:
        kit = self.kit(seat)
        return lines.player(kit.gamer.name, kit.slot, kit.gamer.account, seat[0])

    def purse_tag(self, seat: Seat) -> str:
        """Money lines number the player's slot one higher than all others do."""
        kit = self.kit(seat)
        return lines.player(kit.gamer.name, kit.slot + 1, kit.gamer.account, seat[0])

    def seats(self) -> Iterator[Seat]:
        return ((side, index) for side in SIDES for index in range(5))

    def pay(self, seat: Seat, amount: int, what: str = "") -> None:
        before, after = self.kit(seat).earn(amount)
        self.log.write(lines.money(self.purse_tag(seat), before, amount, after, what))

    def names(self) -> tuple[str, str]:
        """Team names, CT's first."""
        return self.on("CT").squad.name, self.on("T").squad.name

    def tell_status(self, played: int) -> None:
        ct, t = self.score("CT"), self.score("T")
        self.log.write(*lines.match_status(*self.names(), ct, t, self.arena.name, played))

    def tell_scores(self) -> None:
        self.log.write(*(lines.scored(side, self.score(side)) for side in SIDES))

    def tell_freeze(self) -> None:
        """The freeze's line and the statistics block that follows it."""
        rows = [_row(0, 0, _SPECTATOR, self.played), *self._rows()]
        number = self.played + 1
        block = lines.round_stats(number, self.score("CT"), self.score("T"), self.arena.name, rows)
        self.log.write("Starting Freeze period", *block)

    def tell_match_start(self, played: int) -> None:
        self.log.write(lines.match_start(self.arena.name), *lines.teams_playing(*self.names()))
        self.tell_status(played)

    def _rows(self) -> Iterator[str]:
        kits = sorted(
            ((kit, self.side_of(team)) for team in self.teams for kit in team.kits), key=lambda k: k[0].slot
        )
        for kit, side in kits:
            yield _row(kit.gamer.account, 2 if side == "T" else 3, kit, self.played)

    def change_sides(self, *, tell: bool = True) -> None:
        if tell:
            for side, index in self.seats():
                kit = self.kit((side, index))
                who = f'"{kit.gamer.name}<{kit.slot}><[U:1:{kit.gamer.account}]>"'
                move = f"<{lines.TEAM[side]}> to <{lines.TEAM[other_side(side)]}>"
                self.log.write(f"{who} switched from team {move}")
        self.home_side = other_side(self.home_side)

    def fresh_half(self, money: int) -> None:
        """Everybody starts again with this money, a pistol and a fresh loss count."""
        for team in self.teams:
            team.bank = Bank()
            team.streak = 0
            for kit in team.kits:
                kit.money = money
                kit.strip(self.side_of(team))


def _row(account: int, team: int, kit: Kit, played: int) -> str:
    """A player's columns of the statistics block, in the order of `lines.FIELDS`."""
    headshots = 100 * kit.headshots / kit.kills if kit.kills else 0.0
    ratio = kit.kills / kit.deaths if kit.deaths else 0.0
    whole = [team, kit.money, kit.kills, kit.deaths, kit.assists]
    after = [kit.damage // played if played else 0, kit.mvps, 0, 0, 0, 0, 0, 0, kit.first_kills, 0, 0, 0]
    columns = [
        f"{account:>20}",
        *(f"{number:>7}" for number in whole),
        *(f"{number:>7.2f}" for number in (kit.damage, headshots, ratio)),
        *(f"{number:>7}" for number in after),
        *("0.000000", "0.000000", "      0", "      0", "      0"),
    ]
    return ",".join(columns)
