"""A simulated market: three sources that quote who wins a simulated match, from the teams' true strengths
with noise, and that are sometimes wrong. They are imported as an operator would import those of bookmakers.
"""

import math
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import NormalDist
from typing import Any, Literal

from app.sandbox.simulator.map_play import FORM, POINTS_PER_LOGIT
from app.sandbox.simulator.match_simulation import MatchPlan

#: The sources with their margins.
SOURCES = {"Alder Sports": 0.055, "Brightwater": 0.07, "Quarry Exchange": 0.015}
#: What may be wrong with a source on a match, and how often: it has no price; its prices are hours old; it
#: has the teams the wrong way round; its odds are none of a bookmaker; one of two is 1.01.
Fault = Literal["absent", "late", "swapped", "impossible", "certain"]
FAULTS: dict[Fault, float] = {
    "absent": 0.12,
    "late": 0.06,
    "swapped": 0.05,
    "impossible": 0.03,
    "certain": 0.03,
}
_NOISE, _DRIFT = 0.10, 0.03  #: logits: of a source from the truth, and from one quote to the next
_LATE_MILLIS = 7 * 3_600_000
_ROUNDS_TO_WIN = 13
_FORMS = [NormalDist().inv_cdf((n + 0.5) / 9) for n in range(9)]


@dataclass
class _Source:
    """A source on one match: its error in logits so far, and what is wrong with it."""

    error: float
    fault: Fault | None


class MarketMaker:
    """The sources of a day; with the same seed they quote the same."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        self._known: dict[str, dict[str, _Source]] = {}

    def quotes(self, plan: MatchPlan, match_id: str, now: int) -> list[dict[str, Any]]:
        """Rows for `POST /ops/v1/references` at `now` (Unix ms)."""
        truth = _logit(home_chance(plan.home.points - plan.away.points, plan.best_of))
        if match_id not in self._known:
            self._known[match_id] = {name: self._source() for name in SOURCES}
        rows = []
        for name, source in self._known[match_id].items():
            source.error += self._rng.gauss(0, _DRIFT)
            home = 1 / (1 + math.exp(-(truth + source.error)))
            at = now - _LATE_MILLIS if source.fault == "late" else now
            for team, odds in _offered(home, SOURCES[name], source.fault).items():
                price = {"source": name, "match": match_id, "specifiers": f"team={team}"}
                rows.append(price | {"odds": odds, "at": at})
        return rows

    def forget(self, match_id: str) -> None:
        """The match has begun: nobody quotes it any more."""
        self._known.pop(match_id, None)

    def _source(self) -> _Source:
        chance = self._rng.random()
        for fault, share in FAULTS.items():
            chance -= share
            if chance < 0:
                return _Source(self._rng.gauss(0, _NOISE), fault)
        return _Source(self._rng.gauss(0, _NOISE), None)


def _offered(home: float, margin: float, fault: Fault | None) -> dict[str, float]:
    """Decimal odds by team; none of a source that is absent."""
    if fault == "absent":
        return {}
    if fault == "impossible":
        return {"home": 1.01, "away": 1.01}
    if fault == "certain":
        return {"home": 1.01, "away": 15.0}
    chance = 1 - home if fault == "swapped" else home
    odds = {"home": 1 / (chance * (1 + margin)), "away": 1 / ((1 - chance) * (1 + margin))}
    return {team: round(max(each, 1.01), 2) for team, each in odds.items()}


@cache
def home_chance(points: int, best_of: int) -> float:
    """Home's chance to win a match, so many points ahead: each round a coin of the simulator's, whose
    advantage differs from map to map by both teams' form."""
    spread = FORM * math.sqrt(2)
    of_map = sum(
        _race(1 / (1 + math.exp(-(points / POINTS_PER_LOGIT + spread * form))), _ROUNDS_TO_WIN)
        for form in _FORMS
    ) / len(_FORMS)
    return _race(of_map, best_of // 2 + 1)


def _race(chance: float, wins: int) -> float:
    """The chance to be the first with so many wins."""
    return sum(
        math.comb(wins - 1 + losses, losses) * chance**wins * (1 - chance) ** losses for losses in range(wins)
    )


def _logit(chance: float) -> float:
    return math.log(chance / (1 - chance))
