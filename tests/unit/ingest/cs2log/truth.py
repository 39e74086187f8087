"""A played map's facts, parsed from its log with plain regexes and none of our code."""

import re
from dataclasses import dataclass, field

WON = re.compile(r'Team "(CT|TERRORIST)" triggered "(SFUI_\w+)" \(CT "(\d+)"\) \(T "(\d+)"\)')
KILL = re.compile(
    r'"(\w+)<\d+><\[U:1:(\d+)\]><(CT|TERRORIST)>" \[([^]]*)\] killed '
    r'"(\w+)<\d+><\[U:1:(\d+)\]><(CT|TERRORIST)>" \[([^]]*)\] with "(\w+)"(.*)'
)
ASSIST = re.compile(r'"(\w+)<[^"]*" (flash-)?assisted killing "(\w+)<')
PLANT = re.compile(r'"(\w+)<[^"]*" triggered "Planted_The_Bomb" at bombsite (\w)')
TEAM = re.compile(r'MatchStatus: Team playing "(CT|TERRORIST)": (.*)')
REASONS = {"CTs_Win": "kills", "Terrorists_Win": "kills", "Bomb_Defused": "defuse", "Target_Bombed": "bomb"}


@dataclass
class TrueKill:
    killer: str
    victim: str
    weapon: str
    headshot: bool
    penetrated: bool
    side: str
    victim_side: str
    late: bool
    places: tuple[str, str]
    words: list[str]
    assister: str = ""
    flash: bool = False


@dataclass
class TrueRound:
    kills: list[TrueKill] = field(default_factory=list)
    site: str = ""
    side: str = ""
    reason: str = ""
    score: tuple[int, int] = (0, 0)
    teams: dict[str, str] = field(default_factory=dict)

    @property
    def winner(self) -> str:
        return self.teams[self.side]

    @property
    def counting_kills(self) -> list[TrueKill]:
        return [kill for kill in self.kills if not kill.late and kill.side != kill.victim_side]


def played_rounds(log: str) -> list[TrueRound]:
    """The rounds between the last start of play before the end, and the end."""
    game = log[: log.index("Game Over: ")]
    game = game[game.rindex('World triggered "Match_Start"') :]
    return [one_round(part) for part in game.split('World triggered "Round_Start"')[1:]]


def one_round(text: str) -> TrueRound:
    found = TrueRound()
    for line in text.splitlines():
        if won := WON.search(line):
            found.side = "CT" if won[1] == "CT" else "T"
            found.reason = REASONS[won[2].removeprefix("SFUI_Notice_")]
            found.score = int(won[3]), int(won[4])
        elif (team := TEAM.search(line)) and found.side:
            found.teams.setdefault("CT" if team[1] == "CT" else "T", team[2])
        elif plant := PLANT.search(line):
            found.site = plant[2]
        elif kill := KILL.search(line):
            found.kills.append(one_kill(kill, late=bool(found.side)))
        elif assist := ASSIST.search(line):
            assisted = next(kill for kill in reversed(found.kills) if kill.victim == assist[3])
            assisted.assister, assisted.flash = assist[1], bool(assist[2])
    return found


def one_kill(found: re.Match[str], *, late: bool) -> TrueKill:
    killer_side, victim_side = ("CT" if found[group] == "CT" else "T" for group in (3, 7))
    return TrueKill(
        killer=found[1],
        victim=found[5],
        weapon=found[9],
        headshot="headshot" in found[10],
        penetrated="penetrated" in found[10],
        side=killer_side,
        victim_side=victim_side,
        late=late,
        places=(found[4], found[8]),
        words=found[10].strip(" ()").split(),
    )
