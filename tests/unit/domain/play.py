"""A game server's facts in few words, for tests of the match model."""

from collections.abc import Iterable
from typing import Self, TypeVar
from uuid import UUID

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import MatchChange
from app.domain.match import MapPlay, Match, MatchPlayer, Side, Team, WinReason, other_side, other_team
from app.domain.transitions import fold

HOME, AWAY = "Amber Foxes", "Blue Herons"
SECOND = 1_000
TEAMS: dict[Team, tuple[MatchPlayer, ...]] = {
    "home": tuple(MatchPlayer(100 + seat, f"fox{seat}") for seat in range(5)),
    "away": tuple(MatchPlayer(200 + seat, f"heron{seat}") for seat in range(5)),
}
C = TypeVar("C", bound=MatchChange)


def new_match(best_of: int = 1) -> Match:
    return Match(id=UUID(int=7), number=7, home=HOME, away=AWAY, event="cup", best_of=best_of)


def fold_arrived(match: Match, facts: Iterable[f.Fact]) -> tuple[Match, tuple[MatchChange, ...]]:
    """Fold facts whose batch arrived with the newest of them."""
    arrived = list(facts)
    after, changes = fold(match, arrived)
    newest = max((match.last_arrived_at, *(fact.at for fact in arrived)))
    return replace(after, last_arrived_at=newest), changes


class Server:
    """A server whose facts are folded as it reports them; collects every change."""

    def __init__(self, match: Match | None = None, *, map_name: str = "de_mirage") -> None:
        self.match = match or new_match()
        self.now = 1_000_000
        self.map_name = map_name
        self.home_side: Side = "CT"
        self.score: dict[Team, int] = {"home": 0, "away": 0}
        self.changes: list[MatchChange] = []

    @classmethod
    def started(cls, match: Match | None = None) -> Self:
        """One in the first freeze time of its first map."""
        server = cls(match)
        server.start_map()
        return server

    @property
    def map(self) -> MapPlay:
        """The map that is being played."""
        assert self.match.map is not None
        return self.match.map

    def report(self, *facts: f.Fact) -> tuple[MatchChange, ...]:
        self.match, changes = fold_arrived(self.match, facts)
        self.changes.extend(changes)
        return changes

    def changes_of(self, kind: type[C]) -> list[C]:
        return [change for change in self.changes if isinstance(change, kind)]

    def later(self, seconds: int = 1) -> int:
        self.now += seconds * SECOND
        return self.now

    def side_of(self, team: Team) -> Side:
        return self.home_side if team == "home" else other_side(self.home_side)

    def by_side(self) -> tuple[int, int]:
        home, away = self.score["home"], self.score["away"]
        return (home, away) if self.home_side == "CT" else (away, home)

    def team_lines(self) -> None:
        names = {self.side_of("home"): HOME, self.side_of("away"): AWAY}
        self.report(*(f.SideNamed(at=self.now, side=side, team=names[side]) for side in ("CT", "T")))

    def status(self, played: int | None = None) -> tuple[MatchChange, ...]:
        ct_score, t_score = self.by_side()
        total = ct_score + t_score if played is None else played
        return self.report(
            f.ScoreReported(
                at=self.now, ct_score=ct_score, t_score=t_score, rounds_played=total, map_name=self.map_name
            )
        )

    def start_map(self, map_name: str | None = None) -> None:
        """Load the map, end the warm-up and start play: the first freeze time."""
        self.map_name = map_name or self.map_name
        self.score = {"home": 0, "away": 0}
        self.report(f.MapLoaded(at=self.later(), name=self.map_name), f.WarmupStarted(at=self.later()))
        self.report(f.WarmupEnded(at=self.later(60)))
        self.start_play()

    def start_play(self) -> None:
        self.score = {"home": 0, "away": 0}
        self.report(f.FreezeStarted(at=self.later()), f.PlayStarted(at=self.now, map_name=self.map_name))
        self.team_lines()
        self.status()

    def freeze(self) -> None:
        self.report(f.FreezeStarted(at=self.later(7)))
        self.status()

    def freeze_at(self, home: int, away: int) -> None:
        """A freeze time at another score than the rounds have led to, as after a restored backup."""
        self.score = {"home": home, "away": away}
        self.freeze()

    def go_live(self) -> None:
        self.report(f.RoundStarted(at=self.later(15)))

    def kill(self, team: Team, killer: int, victim: int, weapon: str = "ak47") -> tuple[MatchChange, ...]:
        return self.report(self.kill_fact(team, killer, victim, weapon))

    def kill_fact(self, team: Team, killer: int, victim: int, weapon: str = "ak47") -> f.Killed:
        return f.Killed(
            at=self.later(3),
            killer=TEAMS[team][killer],
            side=self.side_of(team),
            victim=TEAMS[other_team(team)][victim],
            victim_side=self.side_of(other_team(team)),
            weapon=weapon,
        )

    def opening_kill(self, team: Team) -> None:
        """The round goes live, and the team has the first kill of it."""
        self.go_live()
        self.kill(team, 0, 0)

    def plant(self, team: Team, player: int) -> tuple[MatchChange, ...]:
        return self.report(f.BombPlanted(at=self.later(20), player=TEAMS[team][player], site="A"))

    def won_fact(self, team: Team, reason: WinReason = "kills") -> f.RoundWon:
        self.score[team] += 1
        ct_score, t_score = self.by_side()
        return f.RoundWon(
            at=self.later(20), side=self.side_of(team), reason=reason, ct_score=ct_score, t_score=t_score
        )

    def win(self, team: Team, reason: WinReason = "kills") -> None:
        self.report(self.won_fact(team, reason))
        self.team_lines()
        self.status()

    def round(self, team: Team, reason: WinReason = "kills") -> None:
        """A whole round with two kills; the freeze before it must have been reported."""
        self.opening_kill(team)
        self.kill(team, 1, 1)
        self.win(team, reason)

    def rounds(self, *winners: Team) -> None:
        """Rounds with the freeze time after each."""
        for team in winners:
            self.round(team)
            self.freeze()

    def swap(self) -> None:
        self.home_side = other_side(self.home_side)

    def change_sides(self) -> None:
        """Half-time, or that of overtime: the freeze time in which the teams have swapped."""
        self.swap()
        self.freeze()

    def game_over(self) -> tuple[MatchChange, ...]:
        ct_score, t_score = self.by_side()
        return self.report(
            f.MapEnded(at=self.later(), map_name=self.map_name, ct_score=ct_score, t_score=t_score)
        )

    def play_map(self, map_name: str, winner: Team) -> None:
        """A map won 13:0, sides swapping after twelve rounds, to its `Game Over`."""
        self.start_map(map_name)
        self.rounds(*[winner] * 11)
        self.round(winner)
        self.change_sides()
        self.round(winner)
        self.game_over()
