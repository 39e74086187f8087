"""Players' kills: the rate and the spread of one player's kills from a real server log, the spread of players
from simulated maps.

One real map has ten players and 150 of their rounds: enough for a mean, not for how much players differ. By
moments: the variance of a player's kills in a round over their mean is the dispersion; what players' rates
vary beyond what it explains is how much they differ, and a gamma distribution of that variance weighs as much
as `rounds` rounds.
"""

import gzip
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from uuid import UUID

from app.domain.changes import MatchChange
from app.domain.match import Match, Round
from app.domain.transitions import fold
from app.ingest.cs2log import read
from app.sandbox.simulator.match_simulation import simulate
from app.trading.coefficients import DataSet, PlayerCoefficients
from scripts.bench.simulated_maps import BEGIN, plan_of
from scripts.reality.place import data_set

LOG, MAPS = "cs2-server-inferno.log.gz", 60
_DIGITS = 4
Kills = list[int]  #: of one player on one map, by round


def fit(data: Path) -> tuple[PlayerCoefficients, list[DataSet]]:
    path = data.parent / LOG
    text = text_of(path)
    real = _kills(followed(text, *teams(text))[0])
    simulated = [kills for log in simulated_maps() for kills in _kills(followed(*log)[0])]
    rate, dispersion = _moments(real)
    of_simulator, spread = _moments(simulated)
    between = sum(
        (sum(one) / len(one) - of_simulator) ** 2 - spread * of_simulator / len(one) for one in simulated
    )
    found = PlayerCoefficients(
        rate=round(rate, _DIGITS),
        rounds=round(of_simulator / (between / len(simulated)), _DIGITS),
        dispersion=round(dispersion, _DIGITS),
    )
    return found, [
        data_set(path, text.count("\n"), "one map"),
        simulated_set(),
    ]


@cache
def simulated_maps() -> tuple[tuple[str, str, str], ...]:
    """Logs of simulated maps, each with the names of its teams."""
    found = []
    for seed in range(MAPS):
        plan = plan_of(seed)
        lines, _ = simulate(plan)
        found.append(("".join(f"{line.text}\n" for line in lines), plan.home.name, plan.away.name))
    return tuple(found)


def simulated_set() -> DataSet:
    """What coefficients say of the simulated maps that they were fitted to; rows are lines."""
    text = "".join(log for log, _, _ in simulated_maps()).encode()
    return DataSet("simulator", text.count(b"\n"), f"seeds 0 to {MAPS - 1}", hashlib.sha256(text).hexdigest())


def text_of(path: Path) -> str:
    """A server's log, plain or gzipped."""
    body = path.read_bytes()
    return (gzip.decompress(body) if path.suffix == ".gz" else body).decode("utf-8", "replace")


def teams(log: str) -> tuple[str, str]:
    """The teams that a log names last."""
    home, away = re.findall(r'Team playing "(?:CT|TERRORIST)": ?(.+)', log)[-2:]
    return home.strip(), away.strip()


def followed(log: str, home: str, away: str) -> tuple[Match, tuple[MatchChange, ...]]:
    """The match of a log, and all that changed in it."""
    match = Match(id=UUID(int=1), number=1, home=home, away=away, event="")
    return fold(match, read(log, BEGIN).facts)


def _kills(match: Match) -> list[Kills]:
    return [kills for play in match.maps for kills in _by_player(play.counted)]


def _by_player(rounds: Iterable[Round]) -> list[Kills]:
    played = list(rounds)
    found: dict[int, Kills] = {}
    for index, one in enumerate(played):
        for player in one.kills or ():
            found.setdefault(player.account, [0] * len(played))[index] = len(player.ids)
    return list(found.values())


def _moments(players: list[Kills]) -> tuple[float, float]:
    """The mean of all rounds, and the variance of a player's rounds around their own mean, over it."""
    rounds = sum(map(len, players))
    mean = sum(map(sum, players)) / rounds
    within = sum((kills - sum(one) / len(one)) ** 2 for one in players for kills in one)
    return mean, within / (rounds - len(players)) / mean
