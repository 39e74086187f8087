"""A player's kills on a CS2 map, a row each (cs2_player_kills_2026_02), and what earlier rows say of them."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from app.trading.player_kills import KillModel, PlayerRecord
from scripts.reality.snapshots import opened

FILE = "cs2_player_kills_2026_02.csv"
MAX_ROUNDS, OVERTIME_ROUNDS = 24, 6


class PlayerRow(msgspec.Struct, frozen=True):
    """One player on one map of a match; `won` are the rounds that the player's team won of its `rounds`."""

    row: int
    match: str
    map: int
    rounds: int
    team: str
    won: int
    player: str
    kills: int

    @property
    def lost(self) -> int:
        return self.rounds - self.won


class Earlier(msgspec.Struct, frozen=True):
    """What a player did before a map: in earlier matches, kills and rounds of each, the newest first; and on
    earlier maps of the same match."""

    matches: tuple[tuple[int, int], ...]
    maps: tuple[PlayerRow, ...]

    def level(self, model: KillModel) -> float:
        """The player's level as a price counts it."""
        kills = sum(one.kills for one in self.maps)
        expected = sum(model.expected(one.won, one.lost) for one in self.maps)
        return model.level(PlayerRecord(kills, expected), model.form(0, self.matches))


def read(path: Path) -> Iterator[PlayerRow]:
    """The rows of a file as published, plain or gzipped, in order."""
    with opened(path) as text:
        for row, cells in enumerate(csv.DictReader(text)):
            yield PlayerRow(
                row=row,
                match=cells["match"],
                map=int(cells["map_number"]),
                rounds=int(cells["rounds"]),
                team=cells["team"],
                won=int(cells["won_rounds"]),
                player=cells["player"],
                kills=int(cells["kills"]),
            )


def maps(rows: Iterable[PlayerRow]) -> Iterator[list[PlayerRow]]:
    """The rows of each map."""
    for _, played in groupby(rows, key=lambda one: (one.match, one.map)):
        yield list(played)


def earlier(rows: Sequence[PlayerRow]) -> Iterator[Earlier]:
    """For each row what earlier maps show of its player."""
    known: dict[str, dict[str, list[PlayerRow]]] = {}
    for played in maps(rows):
        yield from [_earlier(known.get(one.player, {}), one.match) for one in played]
        for one in played:
            known.setdefault(one.player, {}).setdefault(one.match, []).append(one)


def _earlier(matches: dict[str, list[PlayerRow]], now: str) -> Earlier:
    return Earlier(
        matches=tuple(
            (sum(one.kills for one in played), sum(one.rounds for one in played))
            for match, played in reversed(matches.items())
            if match != now
        ),
        maps=tuple(matches.get(now, ())),
    )
