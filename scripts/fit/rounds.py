"""The round model: one logistic model for each phase of a round and each subset of what may be known.

First the model of a round before it begins, with the maps' sides; it expects the rounds, and what comes
against expectation tells the skill of a map's two teams, which then counts in every model.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from app.trading.coefficients import DataSet, PhaseModel, RoundCoefficients
from app.trading.round_features import GROUPS, blocks, groups_of
from scripts.fit.regression import Floats, logistic
from scripts.fit.regression import fit as regress
from scripts.reality.labels import RoundKey, round_winners
from scripts.reality.place import data_set
from scripts.reality.round_predictions import Skill
from scripts.reality.snapshots import DATES, Snapshot, read

FILE = "csgo_round_snapshots.csv.gz"
NAME = "csgo_round_snapshots"
PHASES = ("freeze", "live", "planted")
_SPREADS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
_PENALTY, _SIDE_PENALTY = 1.0, 20.0
_ALL = (1 << len(GROUPS)) - 1
_DIGITS = 5


class Table(msgspec.Struct, frozen=True):
    """Rows of one phase: their features, what each needs (None: nothing), and who won."""

    rows: list[Snapshot]
    features: Floats
    owners: list[str | None]
    outcomes: Floats


def fit(data: Path) -> tuple[RoundCoefficients, list[DataSet]]:
    """The section `rounds`, from the snapshots in `data`."""
    snapshots = list(read(data / FILE))
    found = fitted(snapshots, round_winners(snapshots))
    return found, [data_set(data / FILE, len(snapshots), DATES)]


def fitted(
    snapshots: Sequence[Snapshot], winners: Mapping[RoundKey, bool], every_subset: bool = True
) -> RoundCoefficients:
    """The coefficients that describe these rounds best; `every_subset` false: only those with all known."""
    opening = table([one for one in snapshots if one.opens_round and one.state.phase == "freeze"], winners)
    sides, weights = _with_sides(opening)
    before = logistic(opening.features @ weights + _side_logits(opening.rows, sides))
    spread = min(_SPREADS, key=lambda one: _loss(opening, before, sides, weights, one))
    leans = _leans(opening.rows, before, sides, spread, winners)
    models: dict[str, dict[int, PhaseModel]] = {}
    for phase in PHASES:
        found = table([one for one in snapshots if one.state.phase == phase], winners)
        lean = np.array([leans.get(row.key, sides.get(row.map_name, 0.0)) for row in found.rows])
        subsets = range(_ALL + 1) if every_subset else [_ALL]
        models[phase] = {known: _model(found, lean, known) for known in subsets}
    rounded = {name: round(side, _DIGITS) for name, side in sorted(sides.items())}
    return RoundCoefficients(models, {NAME: rounded}, spread)


def table(rows: list[Snapshot], winners: Mapping[RoundKey, bool]) -> Table:
    """The features of rows of one phase."""
    features = np.array([blocks(row.state)[1] for row in rows])
    outcomes = np.array([float(winners[row.key]) for row in rows])
    return Table(rows, features, groups_of(rows[0].state), outcomes)


def _with_sides(opening: Table) -> tuple[dict[str, float], Floats]:
    """What each map adds for CT, and the weights of the features beside that."""
    names = sorted({row.map_name for row in opening.rows})
    at = np.array([names.index(row.map_name) for row in opening.rows])
    features = np.hstack([np.eye(len(names))[at], opening.features])
    penalty = np.array([_SIDE_PENALTY] * len(names) + [_PENALTY] * opening.features.shape[1])
    weights = regress(features, opening.outcomes, penalty)
    return dict(zip(names, map(float, weights[: len(names)]), strict=True)), weights[len(names) :]


def _side_logits(rows: Sequence[Snapshot], sides: Mapping[str, float]) -> Floats:
    return np.array([sides.get(row.map_name, 0.0) for row in rows])


def _leans(
    rows: Sequence[Snapshot],
    before: Floats,
    sides: Mapping[str, float],
    spread: float,
    winners: Mapping[RoundKey, bool],
) -> dict[RoundKey, float]:
    """The logits for CT from side and skill at the start of each round."""
    leans, skill, map_index = {}, Skill(spread), -1
    for row, expected in zip(rows, before, strict=True):
        if row.map_index != map_index:
            map_index = row.map_index
            skill.begin()
        sign = 1 if row.starter_is_ct else -1
        leans[row.key] = sides.get(row.map_name, 0.0) + sign * skill.mean
        chance = float(expected) if row.starter_is_ct else 1 - float(expected)
        skill.learn(chance, winners[row.key] == row.starter_is_ct)
    return leans


def _loss(
    opening: Table, before: Floats, sides: Mapping[str, float], weights: Floats, spread: float
) -> float:
    winners = {row.key: bool(won) for row, won in zip(opening.rows, opening.outcomes, strict=True)}
    leans = _leans(opening.rows, before, sides, spread, winners)
    chances = logistic(opening.features @ weights + np.array([leans[row.key] for row in opening.rows]))
    return float(-np.mean(np.log(np.where(opening.outcomes > 0, chances, 1 - chances))))


def _model(found: Table, lean: Floats, known: int) -> PhaseModel:
    groups = {group for bit, group in enumerate(GROUPS) if known >> bit & 1}
    columns = [index for index, owner in enumerate(found.owners) if owner is None or owner in groups]
    features = np.hstack([lean[:, None], found.features[:, columns]])
    weights = regress(features, found.outcomes, _PENALTY)
    first, *rest = (round(float(weight), _DIGITS) for weight in weights)
    return PhaseModel(first, tuple(rest))
