"""The public set csgo_round_snapshots (Kaggle): moments of professional rounds of 2019–20, about 20 s apart.

Rows come in order and have no id of match, map or round: a map begins where the map's name changes or the
score falls, a round where the score changes. Everything here is known at its row: nothing is read ahead.
"""

import csv
import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import msgspec

from app.domain.loadout import equipment_value
from app.trading.round_state import RoundPhase, RoundState, SideState

DATES = "2019 to 2020"
#: Above this `time_left` players still buy: it then counts what is left of the freeze time and of the
#: round's.
ROUND_SECONDS = 115.0
_REGULATION_HALF, _REGULATION, _OVERTIME = 15, 30, 6
_ARMOUR, _HELMET, _KIT = (equipment_value([item]) or 0 for item in ("vest", "helmet", "defuser"))
_FIRST_LOSSES, _MOST_LOSSES = 1, 4
#: Columns whose name is not the game's.
_SPELLING = {
    **{"m4a4": "m4a1", "m4a1s": "m4a1_silencer", "usps": "usp_silencer", "p2000": "hkp2000"},
    **{"sg553": "sg556", "cz75auto": "cz75a", "r8revolver": "revolver"},
    **{"incendiarygrenade": "incgrenade", "molotovgrenade": "molotov"},
    **{"decoygrenade": "decoy"},
}


class Snapshot(msgspec.Struct, frozen=True):
    """One row. `map_index` counts the maps of the file, `round_index` the rounds of the map, both from 0.

    `opens_map`, `opens_round`: it is the first row of them. `starter_is_ct`: the side that began the map as
    CT plays CT now. `previous`: whether CT (of that round) won the round before it in the map, once known.
    `label` is what the row says of the round's winner (true when CT): not to be predicted from, and wrong in
    every fifth row of the freeze time.
    """

    row: int
    map_index: int
    map_name: str
    ct_score: int
    t_score: int
    opens_map: bool
    opens_round: bool
    starter_is_ct: bool
    previous: bool | None
    time_left: float
    state: RoundState
    label: bool

    @property
    def round_index(self) -> int:
        return self.ct_score + self.t_score

    @property
    def key(self) -> tuple[int, int]:
        """The round: index of the map, index of the round."""
        return self.map_index, self.round_index


def half_of(round_index: int) -> tuple[int, int]:
    """(half, round within it), both from 0, in the old format: 15 rounds a half, 3 in overtime."""
    if round_index < _REGULATION:
        return divmod(round_index, _REGULATION_HALF)
    half, position = divmod(round_index - _REGULATION, _OVERTIME // 2)
    return half + 2, position


def switched(half: int) -> bool:
    """Whether the sides differ from the map's first half: they change after 15 rounds and within
    overtimes."""
    return (half + 1) // 2 % 2 == 1


def read(path: Path) -> Iterator[Snapshot]:
    """The snapshots of a file as published, plain or gzipped, in order."""
    with opened(path) as file:
        rows = csv.reader(file)
        yield from _Reader(next(rows)).snapshots(rows)


def opened(path: Path) -> IO[str]:
    """A text file, plain or gzipped."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8", newline="")


class _Reader:
    """What is remembered from row to row: the last snapshot, and the counters of the loss bonus."""

    def __init__(self, header: Sequence[str]) -> None:
        self.at = {name: index for index, name in enumerate(header)}
        self.sides = _SideColumns(self.at, "ct"), _SideColumns(self.at, "t")
        self.last: Snapshot | None = None
        self.losses = [_FIRST_LOSSES, _FIRST_LOSSES]  #: CT's, T's

    def snapshots(self, rows: Iterable[Sequence[str]]) -> Iterator[Snapshot]:
        for row, cells in enumerate(rows):
            self.last = self._snapshot(row, cells)
            yield self.last

    def _snapshot(self, row: int, cells: Sequence[str]) -> Snapshot:
        last, name = self.last, cells[self.at["map"]]
        ct, t = (int(float(cells[self.at[f"{side}_score"]])) for side in ("ct", "t"))
        half, position = half_of(ct + t)
        opens_map = last is None or name != last.map_name or ct + t < last.round_index
        starter_is_ct, previous = not switched(half), None
        if last is not None and not opens_map:
            scores = (ct, t) if starter_is_ct == last.starter_is_ct else (t, ct)
            new = scores != (last.ct_score, last.t_score)
            previous = ct_won(last, scores) if new else last.previous
        opens_round = last is None or opens_map or ct + t != last.round_index
        if opens_round:
            self._count_losses(None if position == 0 else previous)
        return Snapshot(
            *(row, (last.map_index if last else -1) + opens_map, name, ct, t, opens_map, opens_round),
            starter_is_ct=starter_is_ct,
            previous=previous,
            time_left=float(cells[self.at["time_left"]]),
            state=self._state(cells, position + 1, half > 1),
            label=cells[self.at["round_winner"]] == "CT",
        )

    def _count_losses(self, ct_won: bool | None) -> None:
        """The counters after a round; None begins a half."""
        if ct_won is None:
            self.losses = [_FIRST_LOSSES, _FIRST_LOSSES]
            return
        lost, won = (1, 0) if ct_won else (0, 1)
        self.losses[lost] = min(self.losses[lost] + 1, _MOST_LOSSES)
        self.losses[won] = max(self.losses[won] - 1, 0)

    def _state(self, cells: Sequence[str], number: int, overtime: bool) -> RoundState:
        left = float(cells[self.at["time_left"]])
        planted = cells[self.at["bomb_planted"]].lower() in ("true", "1", "1.0")
        phase: RoundPhase = "planted" if planted else "freeze" if left > ROUND_SECONDS else "live"
        ct, t = (
            columns.state(cells, losses) for columns, losses in zip(self.sides, self.losses, strict=True)
        )
        return RoundState(
            phase=phase,
            ct=ct,
            t=t,
            seconds_left=left - ROUND_SECONDS if phase == "freeze" else left,
            number=number,
            overtime=overtime,
            attempts_seen=False,
        )


def ct_won(before: Snapshot, scores: tuple[int, int]) -> bool:
    """Whether CT won the round of `before`, as a later score tells: of those who were CT then, and of the
    others. By the row's own label when rounds are missing between them and both won some."""
    ct, t = scores[0] - before.ct_score, scores[1] - before.t_score
    return before.label if ct > 0 and t > 0 else ct > t


class _SideColumns:
    """Where the columns of a side stand; weapons and grenades with the price of each."""

    def __init__(self, at: Mapping[str, int], side: str) -> None:
        names = ("players_alive", "health", "armor", "helmets", "money")
        self.numbers = [at[f"{side}_{name}"] for name in names]
        self.kits = at["ct_defuse_kits"] if side == "ct" else None
        self.weapons, self.utility = (_priced(at, f"{side}_{kind}_") for kind in ("weapon", "grenade"))

    def state(self, cells: Sequence[str], losses: int) -> SideState:
        alive, health, armour, helmets, money = (int(float(cells[index])) for index in self.numbers)
        kits = int(float(cells[self.kits])) if self.kits is not None else 0
        armoured = min(alive, -(-armour // 100))
        worn = _ARMOUR * armoured + _HELMET * helmets + _KIT * kits
        return SideState(
            *(alive, health, armour, helmets),
            weapons=worn + _worth(cells, self.weapons),
            utility=_worth(cells, self.utility),
            money=money,
            kits=kits,
            losses=losses,
        )


def _priced(at: Mapping[str, int], prefix: str) -> list[tuple[int, int]]:
    found = {name.removeprefix(prefix): index for name, index in at.items() if name.startswith(prefix)}
    return [(index, equipment_value([_SPELLING.get(name, name)]) or 0) for name, index in found.items()]


def _worth(cells: Sequence[str], items: Iterable[tuple[int, int]]) -> int:
    return sum([int(float(cells[index])) * price for index, price in items if cells[index] != "0"])
