"""What a real server's log says of its rounds, read with plain regexes and none of our code."""

import re
from calendar import timegm
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import strptime

OWNER = re.compile(r'"[^"<]*<\d+><\[U:1:(\d+)\]><(CT|TERRORIST)>" (?:\[[^]]*\] )?(.*)')
ROW = re.compile(r'"player_\d+" : " *([1-9]\d*), *([23]), *(\d+),')
MONEY = re.compile(r"money change \d+[+-]\d+ = \$(\d+) ")
HIT = re.compile(r'attacked "[^"]*\[U:1:(\d+)\][^"]*" .*\(health "(\d+)"\)')
KILL = re.compile(r'killed "[^"]*\[U:1:(\d+)\]')
PAID = re.compile(r"money change \d+-(\d+) = .*\(purchase: (\w+)\)")
LISTED = re.compile(r"left buyzone with \[ (.*) \]")
SIDES = {"CT": "CT", "TERRORIST": "T", "3": "CT", "2": "T"}


def stamp(line: str) -> int:
    """The line's time in ms."""
    return timegm(strptime(line[2:23], "%m/%d/%Y - %H:%M:%S")) * 1000


@dataclass
class TrueMoment:
    """A moment of a round; everything by side."""

    line: int
    what: str
    alive: dict[str, int]
    health: dict[str, int]
    money: dict[str, int]
    seconds_live: float


@dataclass
class TrueLog:
    """The played map's moments (each beginning of a round, and each kill in it), prices and lists."""

    moments: list[TrueMoment] = field(default_factory=list)
    prices: set[tuple[str, int]] = field(default_factory=set)
    lists: list[tuple[int, int, list[str]]] = field(default_factory=list)  #: line, account, items


@dataclass
class _Player:
    side: str = ""
    money: int = 0
    health: int = 100


def lines_of_play(log: str) -> Iterator[tuple[int, str]]:
    """The lines of the played map with their indexes, from the last start of play before its end."""
    lines = log.splitlines()
    end = next(index for index, line in enumerate(lines) if "Game Over: " in line)
    starts = (index for index in range(end, 0, -1) if 'triggered "Match_Start"' in lines[index])
    # The freeze time's first lines come before it.
    first = next(index for index in range(next(starts), 0, -1) if "Starting Freeze" in lines[index])
    yield from ((index, lines[index]) for index in range(first, end))


def read_true(log: str) -> TrueLog:
    found, players = TrueLog(), dict[int, _Player]()
    live_at, live = 0, False
    for index, line in lines_of_play(log):
        message = line[25:]
        if message.startswith("Starting Freeze"):
            for player in players.values():
                player.health = 100
        elif 'triggered "Round_Start"' in message:
            live_at, live = stamp(line), True
            found.moments.append(_moment(index, "start", players, 0))
        elif 'triggered "SFUI_' in message:
            live = False
        elif row := ROW.match(message):
            players[int(row[1])] = _Player(SIDES[row[2]], int(row[3]))
        elif owner := OWNER.match(message):
            players.setdefault(int(owner[1]), _Player()).side = SIDES[owner[2]]
            died = _act(found, players, index, int(owner[1]), owner[3])
            if died and live:
                found.moments.append(_moment(index, "kill", players, (stamp(line) - live_at) / 1000))
    return found


def _act(found: TrueLog, players: dict[int, _Player], index: int, account: int, act: str) -> bool:
    """Apply what a player did; whether somebody died of it."""
    if paid := PAID.match(act):
        found.prices.add((paid[2], int(paid[1])))
    if money := MONEY.match(act):
        players[account].money = int(money[1])
    elif hit := HIT.match(act):
        players[int(hit[1])].health = int(hit[2])
    elif listed := LISTED.match(act):
        found.lists.append((index, account, listed[1].split()))
    elif act.startswith("committed suicide"):
        players[account].health = 0
        return True
    elif kill := KILL.match(act):
        players[int(kill[1])].health = 0
        return True
    return False


def _moment(index: int, what: str, players: dict[int, _Player], seconds: float) -> TrueMoment:
    sides = {side: [one for one in players.values() if one.side == side] for side in ("CT", "T")}
    return TrueMoment(
        index,
        what,
        alive={side: sum(one.health > 0 for one in team) for side, team in sides.items()},
        health={side: sum(one.health for one in team) for side, team in sides.items()},
        money={side: sum(one.money for one in team) for side, team in sides.items()},
        seconds_live=seconds,
    )
