"""Teams, players and maps that do not exist (`world.toml`), with strengths like the real field's."""

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random

#: Accounts start far above any number that Steam has given out, and still fit 31 bits.
_FIRST_ACCOUNT = 2_140_000_001
_SQUAD = 5


@dataclass(frozen=True)
class Gamer:
    """A player: `account` is the 32-bit number in `[U:1:n]`; `skill` multiplies the chance of a kill."""

    name: str
    account: int
    skill: float


@dataclass(frozen=True)
class Squad:
    """A team; `points` on the scale of the public ranking, about 1250 to 2000."""

    name: str
    points: int
    players: tuple[Gamer, ...]


@dataclass(frozen=True)
class Arena:
    """A map; `ct_share` of the rounds go to CT when both teams are equally strong."""

    name: str
    ct_share: float


@dataclass(frozen=True)
class World:
    squads: tuple[Squad, ...]
    arenas: tuple[Arena, ...]

    def pair(self, rng: Random) -> tuple[Squad, Squad]:
        """Two different teams that a tournament would put together: close ones more often."""
        first = rng.randrange(len(self.squads))
        step = 1 + min(int(rng.expovariate(1 / 6)), len(self.squads) // 2)
        second = first + step if first + step < len(self.squads) else first - step
        pair = [self.squads[first], self.squads[second]]
        rng.shuffle(pair)
        return pair[0], pair[1]


@cache
def world() -> World:
    """The one invented world, read from the file beside this module."""
    table = tomllib.loads(files(__package__).joinpath("world.toml").read_text("utf-8"))
    handles = [stem + ending for ending in table["players"]["endings"] for stem in table["players"]["stems"]]
    squads = (_squad(rank, name, handles) for rank, name in enumerate(table["teams"]["names"]))
    arenas = (Arena(name, share) for name, share in table["maps"].items())
    return World(tuple(squads), tuple(arenas))


def _squad(rank: int, name: str, handles: list[str]) -> Squad:
    seats = range(rank * _SQUAD, (rank + 1) * _SQUAD)
    players = (Gamer(handles[n], _FIRST_ACCOUNT + n, 0.8 + 0.1 * ((n * 7 + rank) % 5)) for n in seats)
    # The ranking's points fall steeply among the best and flatten out towards the fortieth.
    return Squad(name, round(1240 + 755 * math.exp(-rank / 14)), tuple(players))
