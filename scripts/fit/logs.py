"""Logs that coefficients are fitted to: the real server log that we have, and those of simulated maps."""

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path
from uuid import UUID

from app.domain.changes import MatchChange
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest.cs2log import read
from app.sandbox.simulator.match_simulation import simulate
from app.trading.coefficients import DataSet
from scripts.bench.simulated_maps import BEGIN, plan_of

LOG, MAPS = "cs2-server-inferno.log.gz", 60


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
