"""Teams, players and maps that do not exist (`fictional_world.toml`), as strong as real ones."""

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random

#: Accounts start far above any number that Steam has assigned, and still fit 31 bits.
_FIRST_ACCOUNT = 2_140_000_001
_PLAYERS = 5


@dataclass(frozen=True)
class FictionalPlayer:
    """A player: `account` is the 32-bit number in `[U:1:n]`; `skill` multiplies the chance of a kill."""

    name: str
    account: int
    skill: float


@dataclass(frozen=True)
class FictionalTeam:
    """A team; `points` on the scale of the public ranking, about 1250 to 2000."""

    name: str
    points: int
    players: tuple[FictionalPlayer, ...]


@dataclass(frozen=True)
class MapProfile:
    """A map; `ct_share` of the rounds go to CT when both teams are equally strong."""

    name: str
    ct_share: float


@dataclass(frozen=True)
class FictionalWorld:
    teams: tuple[FictionalTeam, ...]
    maps: tuple[MapProfile, ...]

    def pair(self, rng: Random) -> tuple[FictionalTeam, FictionalTeam]:
        """Two different teams; the closer they are in strength, the more often."""
        first = rng.randrange(len(self.teams))
        step = 1 + min(int(rng.expovariate(1 / 6)), len(self.teams) // 2)
        second = first + step if first + step < len(self.teams) else first - step
        pair = [self.teams[first], self.teams[second]]
        rng.shuffle(pair)
        return pair[0], pair[1]


@cache
def fictional_world() -> FictionalWorld:
    """The only one, read from the file beside this module."""
    table = tomllib.loads(files(__package__).joinpath("fictional_world.toml").read_text("utf-8"))
    handles = [stem + ending for ending in table["players"]["endings"] for stem in table["players"]["stems"]]
    teams = (_team(rank, name, handles) for rank, name in enumerate(table["teams"]["names"]))
    maps = (MapProfile(name, share) for name, share in table["maps"].items())
    return FictionalWorld(tuple(teams), tuple(maps))


def _team(rank: int, name: str, handles: list[str]) -> FictionalTeam:
    numbers = range(rank * _PLAYERS, (rank + 1) * _PLAYERS)
    players = (
        FictionalPlayer(handles[n], _FIRST_ACCOUNT + n, 0.8 + 0.1 * ((n * 7 + rank) % 5)) for n in numbers
    )
    # The ranking's points fall steeply among the best and flatten out towards the fortieth.
    return FictionalTeam(name, round(1240 + 755 * math.exp(-rank / 14)), tuple(players))
