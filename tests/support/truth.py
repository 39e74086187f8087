"""What happened in the real log, read by a few regular expressions that share nothing with our parser.

Good for that one log only: one map that was played to the end, no overtime, no restored round. The rounds
that count are those after the last start of play before the game was over; teams are identified by who
played on which side in the first half.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tests.support.real_match import HOME

Team = Literal["home", "away"]
_WON = re.compile(r'Team "(CT|TERRORIST)" triggered "SFUI_Notice_(\w+)" \(CT "(\d+)"\) \(T "(\d+)"\)')
_KILL = re.compile(
    r'"(?P<killer>[^"<]*)<\d+><(?:\[U:1:(?P<account>\d+)\]|[^>]*)><(?P<side>CT|TERRORIST)>" '
    r'\[(?P<place>[^]]*)\] killed "(?P<victim>[^"<]*)<\d+><[^>]*><(?P<victim_side>CT|TERRORIST)>" '
    r'\[(?P<victim_place>[^]]*)\] with "(?P<weapon>\w+)"(?P<how>.*)'
)
_ASSIST = re.compile(r'"([^"<]*)<[^"]*" (flash-)?assisted killing "([^"<]*)<')
_PLANT = re.compile(r'triggered "Planted_The_Bomb" at bombsite (\w)')
_SIDES = {"CT": "CT", "TERRORIST": "T"}
_REASONS = {
    "CTs_Win": "kills",
    "Terrorists_Win": "kills",
    "Target_Bombed": "bomb",
    "Target_Saved": "time",
    "Bomb_Defused": "defuse",
}


@dataclass
class Kill:
    """`words` are those that the log has in brackets about it."""

    killer: str
    victim: str
    side: str
    victim_side: str
    place: str
    victim_place: str
    weapon: str
    words: list[str]
    account: str | None = None
    assister: str = ""
    flash: bool = False

    @property
    def headshot(self) -> bool:
        return "headshot" in self.words


@dataclass
class Round:
    """`kills` are those before it was decided, `after` those until the next; `score` is that of CT and T."""

    kills: list[Kill] = field(default_factory=list)
    after: list[Kill] = field(default_factory=list)
    site: str = ""
    side: str = ""
    reason: str = ""
    score: tuple[int, int] = (0, 0)
    winner: Team = "home"

    @property
    def all_kills(self) -> list[Kill]:
        return [*self.kills, *self.after]

    @property
    def fair(self) -> list[Kill]:
        """Without kills of team mates."""
        return [kill for kill in self.kills if kill.side != kill.victim_side]


@dataclass(frozen=True)
class Truth:
    """The rounds in order, who plays for home, and the server's last reported score."""

    rounds: list[Round]
    home: frozenset[str]
    final_score: tuple[int, int]

    def score(self, rounds: int | None = None) -> tuple[int, int]:
        """Rounds won by home and away, after so many rounds."""
        won = [played.winner for played in self.rounds[:rounds]]
        return won.count("home"), won.count("away")

    def team(self, player: str) -> Team:
        return "home" if player in self.home else "away"


def derive(text: str) -> Truth:
    lines = text.splitlines()
    end = next(at for at, line in enumerate(lines) if "Game Over" in line)
    begin = max(at for at, line in enumerate(lines[:end]) if 'triggered "Match_Start"' in line)
    rounds = _rounds(lines[begin:end])
    first_half = [kill for played in rounds[:12] for kill in played.kills]
    named = next(line for line in lines[begin:end] if 'Team playing "CT"' in line)
    home_side = "CT" if named.endswith(HOME) else "T"
    home = frozenset(
        name
        for kill in first_half
        for name, side in ((kill.killer, kill.side), (kill.victim, kill.victim_side))
        if side == home_side
    )
    for played in rounds:
        winners = {kill.killer for kill in played.kills if kill.side == played.side}
        winners |= {kill.victim for kill in played.kills if kill.victim_side == played.side}
        assert winners <= home or not winners & home, "a player changed the team"
        played.winner = "home" if winners <= home else "away"
    final = re.search(r"score (\d+):(\d+)", lines[end])
    assert final
    return Truth(rounds, home, (int(final[1]), int(final[2])))


def _rounds(lines: list[str]) -> list[Round]:
    rounds: list[Round] = []
    for line in lines:
        if line.endswith('World triggered "Round_Start"'):
            rounds.append(Round())
            kills = rounds[-1].kills
        elif not rounds:
            continue
        elif won := _WON.search(line):
            rounds[-1].side, rounds[-1].reason = _SIDES[won[1]], _REASONS[won[2]]
            rounds[-1].score = int(won[3]), int(won[4])
            assert sum(rounds[-1].score) == len(rounds)
            kills = rounds[-1].after
        elif kill := _KILL.search(line):
            fields = kill.groupdict()
            fields |= {name: _SIDES[fields[name]] for name in ("side", "victim_side")}
            kills.append(Kill(words=fields.pop("how").strip(" ()").split(), **fields))
        elif assist := _ASSIST.search(line):
            assisted = next(kill for kill in reversed(rounds[-1].all_kills) if kill.victim == assist[3])
            assisted.assister, assisted.flash = assist[1], bool(assist[2])
        elif plant := _PLANT.search(line):
            rounds[-1].site = plant[1]
    return rounds


Specifiers = Mapping[str, str]


def is_won(truth: Truth, type_id: int, specifiers: Specifiers) -> bool:
    """Whether a market with these specifiers wins."""
    return _TYPES[type_id](truth, specifiers)


def is_void(truth: Truth, type_id: int, specifiers: Specifiers) -> bool:
    """Whether a market of a map that was played to its end has no result."""
    return type_id == 38 and _lead(truth, specifiers) == 0


def _round(truth: Truth, specifiers: Specifiers) -> Round:
    return truth.rounds[int(specifiers["round"]) - 1]


def _of(specifiers: Specifiers, score: tuple[int, int]) -> tuple[int, int]:
    """The score as the named team sees it."""
    return score if specifiers["team"] == "home" else (score[1], score[0])


def _ahead(truth: Truth, specifiers: Specifiers) -> bool:
    ours, theirs = _of(specifiers, truth.score())
    return ours + float(specifiers.get("handicap", 0)) > theirs


def _maps(truth: Truth, specifiers: Specifiers) -> tuple[int, int]:
    home, away = truth.score()
    return _of(specifiers, (int(home > away), int(away > home)))


def _map_handicap(truth: Truth, specifiers: Specifiers) -> bool:
    ours, theirs = _maps(truth, specifiers)
    return ours + float(specifiers["handicap"]) > theirs


def _race(truth: Truth, specifiers: Specifiers) -> bool:
    for count in range(1, len(truth.rounds) + 1):
        score = truth.score(count)
        if max(score) == int(specifiers["target"]):
            return _of(specifiers, score)[0] == int(specifiers["target"])
    raise AssertionError("no team reached the target: the market should be void")


def _pistol(truth: Truth, specifiers: Specifiers) -> bool:
    return truth.rounds[0 if specifiers["half"] == "1" else 12].winner == specifiers["team"]


def _opening(truth: Truth, specifiers: Specifiers) -> Kill:
    return _round(truth, specifiers).fair[0]


def _over(count: float, specifiers: Specifiers) -> bool:
    return count > float(specifiers["threshold"])


def _player_kills(truth: Truth, specifiers: Specifiers, who: str = "player") -> int:
    """Those on the scoreboard, which goes on after a round's decision."""
    return _scoreboard(truth)[str((int(specifiers[who].rpartition(":")[2]) - 10**14) % 2**32)]


def _scoreboard(truth: Truth) -> Counter[str | None]:
    """Kills by account."""
    kills = [kill for played in truth.rounds for kill in played.all_kills]
    return Counter(kill.account for kill in kills if kill.side != kill.victim_side)


def _lead(truth: Truth, specifiers: Specifiers) -> int:
    return _player_kills(truth, specifiers) - _player_kills(truth, specifiers, "opponent")


def _first(truth: Truth, specifiers: Specifiers) -> bool:
    """Whether the player alone has the most kills."""
    best, second = _scoreboard(truth).most_common(2)
    return best[1] > second[1] and _player_kills(truth, specifiers) == best[1]


def _shared(truth: Truth) -> bool:
    best, second = _scoreboard(truth).most_common(2)
    return best[1] == second[1]


_TYPES: dict[int, Callable[[Truth, Specifiers], bool]] = {
    1: lambda truth, specifiers: _maps(truth, specifiers) == (1, 0),
    2: _map_handicap,
    3: lambda truth, specifiers: _over(1, specifiers),
    4: lambda truth, specifiers: not _over(1, specifiers),
    5: lambda truth, specifiers: (specifiers["home_maps"], specifiers["away_maps"]) == ("1", "0"),
    6: _ahead,
    7: _ahead,
    8: lambda truth, specifiers: _over(len(truth.rounds), specifiers),
    9: lambda truth, specifiers: not _over(len(truth.rounds), specifiers),
    10: lambda truth, specifiers: truth.score(24) == (12, 12),
    11: _race,
    12: _pistol,
    13: lambda truth, specifiers: _round(truth, specifiers).winner == specifiers["team"],
    14: lambda truth, specifiers: truth.team(_opening(truth, specifiers).killer) == specifiers["team"],
    15: lambda truth, specifiers: _opening(truth, specifiers).headshot,
    16: lambda truth, specifiers: any(kill.weapon == "awp" for kill in _round(truth, specifiers).fair),
    17: lambda truth, specifiers: bool(_round(truth, specifiers).site),
    18: lambda truth, specifiers: _round(truth, specifiers).reason == "defuse",
    19: lambda truth, specifiers: _over(len(_round(truth, specifiers).fair), specifiers),
    20: lambda truth, specifiers: not _over(len(_round(truth, specifiers).fair), specifiers),
    21: lambda truth, specifiers: _round(truth, specifiers).reason == "bomb",
    22: lambda truth, specifiers: _of(specifiers, truth.score(12))[0] > 6,
    23: lambda truth, specifiers: truth.score(12) == (6, 6),
    24: lambda truth, specifiers: all(_pistol(truth, {**specifiers, "half": half}) for half in "12"),
    25: lambda truth, specifiers: _over(_of(specifiers, truth.score())[0], specifiers),
    26: lambda truth, specifiers: not _over(_of(specifiers, truth.score())[0], specifiers),
    27: lambda truth, specifiers: len(truth.rounds) % 2 == 1,
    28: lambda truth, specifiers: len(truth.rounds) % 2 == 0,
    29: lambda truth, specifiers: _round(truth, specifiers).reason == "time",
    30: lambda truth, specifiers: _round(truth, specifiers).reason == "kills",
    31: lambda truth, specifiers: not is_won(truth, 10, specifiers),
    32: lambda truth, specifiers: not is_won(truth, 15, specifiers),
    33: lambda truth, specifiers: not is_won(truth, 16, specifiers),
    34: lambda truth, specifiers: not is_won(truth, 17, specifiers),
    36: lambda truth, specifiers: _over(_player_kills(truth, specifiers), specifiers),
    37: lambda truth, specifiers: not _over(_player_kills(truth, specifiers), specifiers),
    38: lambda truth, specifiers: _lead(truth, specifiers) > 0,
    39: _first,
    40: lambda truth, specifiers: _shared(truth),
    35: lambda truth, specifiers: truth.rounds[0].winner != truth.rounds[12].winner,
}
