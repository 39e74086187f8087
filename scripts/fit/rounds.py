"""The round model: a logistic model for each phase of a round and each subset of what may be known.

First the model of a round before it begins, with the maps' sides; it expects the rounds, and what comes
against expectation tells the skill of a map's two teams, which then counts in every model. Then the rates of
the last seconds, and with them the models in play.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from app.trading.coefficients import DataSet, PhaseModel, RoundCoefficients
from app.trading.round_features import GROUPS, features
from app.trading.round_model import ct_wins
from app.trading.round_state import RoundPhase
from scripts.fit import endings
from scripts.fit import limits as rates
from scripts.fit.phases import Rows, everything, model
from scripts.fit.regression import Floats, logistic, loss, scaled
from scripts.fit.regression import fit as regress
from scripts.reality.endings import round_endings
from scripts.reality.labels import RoundKey, round_winners
from scripts.reality.place import data_set
from scripts.reality.round_predictions import Skill, side_of
from scripts.reality.snapshots import DATES, Snapshot, read

FILE = "csgo_round_snapshots.csv.gz"
NAME = "csgo_round_snapshots"
_SPREADS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
#: Against large sides of maps with few rounds; about a side's standard deviation of 0.2 logits.
_SIDE_PENALTY = 25.0
_DIGITS = 5
Winners = Mapping[RoundKey, bool]


def fit(data: Path) -> tuple[RoundCoefficients, list[DataSet]]:
    """The section `rounds`, from the snapshots in `data`."""
    snapshots = list(read(data / FILE))
    found = fitted(snapshots, round_winners(snapshots))
    return found, [data_set(data / FILE, len(snapshots), DATES)]


def every_subset(phase: RoundPhase) -> list[int]:
    return list(range(everything(phase) + 1))


def with_all_known(phase: RoundPhase) -> list[int]:
    """For rows that hide nothing; what is always known is needed for teams with a player missing, too."""
    return [0, everything(phase)]


def fitted(
    snapshots: Sequence[Snapshot],
    winners: Winners,
    subsets: Callable[[RoundPhase], Iterable[int]] = every_subset,
) -> RoundCoefficients:
    """The coefficients that describe these rounds best, for these subsets of what may be known in each
    phase."""
    sides, spread, ct_logits = _before(snapshots, winners)
    phases: dict[str, Rows] = {phase: _rows(phase, snapshots, winners, ct_logits, sides) for phase in GROUPS}
    free = [one for one in snapshots if one.state.phase == "planted" and not one.state.t.alive]
    limits = rates.fitted(
        phases["live"], phases["planted"], [one for one in free if one.state.ct.alive], winners
    )
    models: dict[str, dict[int, PhaseModel]] = {
        phase: {known: model(rows, known, limits) for known in subsets(rows.phase)}
        for phase, rows in phases.items()
    }
    rounded = {name: round(side, _DIGITS) for name, side in sorted(sides.items())}
    found = RoundCoefficients(models, limits, {}, {NAME: rounded}, spread)
    chances: dict[str, Floats] = {
        phase: np.array(
            [
                ct_wins(row.state, ct_logit, found)
                for row, ct_logit in zip(rows.rows, rows.ct_logits, strict=True)
            ]
        )
        for phase, rows in phases.items()
    }
    answers = endings.fitted(phases, chances, round_endings(snapshots, winners), limits)
    return msgspec.structs.replace(found, endings=answers)


def _rows(
    phase: RoundPhase,
    snapshots: Sequence[Snapshot],
    winners: Winners,
    ct_logits: Mapping[RoundKey, float],
    sides: Mapping[str, float],
) -> Rows:
    rows = [one for one in snapshots if one.state.phase == phase and one.state.ct.alive and one.state.t.alive]
    return Rows(
        phase,
        rows,
        np.array([ct_logits.get(row.key, side_of(row, sides)) for row in rows]),
        np.array([float(winners[row.key]) for row in rows]),
    )


def _before(
    snapshots: Sequence[Snapshot], winners: Winners
) -> tuple[dict[str, float], float, dict[RoundKey, float]]:
    """What each map adds for CT, how skill is spread, and the logits for CT from both at each round's
    start."""
    rows = [one for one in snapshots if one.opens_round and one.state.phase == "freeze"]
    outcomes = np.array([float(winners[row.key]) for row in rows])
    seen = np.array([features(row.state)[1] for row in rows])
    pistol = np.array([row.state.pistol for row in rows])
    names = sorted({row.map_name for row in rows})
    at = np.array([names.index(row.map_name) for row in rows])
    maps = np.eye(len(names))[at] * ~pistol[:, None]
    penalty = np.concatenate([np.full(len(names), _SIDE_PENALTY), scaled(seen)])
    weights = regress(np.hstack([maps, seen]), outcomes, penalty)
    sides = dict(zip(names, map(float, weights[: len(names)]), strict=True))
    logits = np.hstack([maps, seen]) @ weights
    expected = logistic(logits)

    def with_skill(spread: float) -> float:
        ct_logits = _ct_logits(rows, expected, sides, spread, winners)
        skill = np.array([ct_logits[row.key] - side_of(row, sides) for row in rows])
        return loss(logistic(logits + skill), outcomes)

    spread = min(_SPREADS, key=with_skill)
    return sides, spread, _ct_logits(rows, expected, sides, spread, winners)


def _ct_logits(
    rows: Sequence[Snapshot], before: Floats, sides: Mapping[str, float], spread: float, winners: Winners
) -> dict[RoundKey, float]:
    """The logits for CT from side and skill at the start of each round."""
    ct_logits, skill, map_index = {}, Skill(spread), -1
    for row, expected in zip(rows, before, strict=True):
        if row.map_index != map_index:
            map_index = row.map_index
            skill.begin()
        sign = 1 if row.starter_is_ct else -1
        ct_logits[row.key] = side_of(row, sides) + sign * skill.mean
        chance = float(expected) if row.starter_is_ct else 1 - float(expected)
        skill.learn(chance, winners[row.key] == row.starter_is_ct)
    return ct_logits
