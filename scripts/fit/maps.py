"""The chain of a map's rounds: levels of both sides' resources, what they are worth, and how they go on.

Levels and moves from csgo_round_snapshots: what a side has at the first row of a round, and what it has
in the next when it wins and when it loses. Those thresholds are chosen that foresee the next rounds best.
What a level is worth today from the third round of a half on, and how much two teams differ of which nothing
is known, are the numbers under which the scores of cs2_results_2026 and cs2_maps_2026_02 at half-time and
after regulation are likeliest. The maps' sides are calibrated on the chain itself, in the format of today.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.trading.coefficients import DataSet, MapCoefficients, Moves
from app.trading.half_walk import Economies, Economy, Half, described, from_start
from app.trading.model import ct_share, logit
from scripts.fit.regression import fit as regress
from scripts.fit.regression import logistic
from scripts.fit.rounds import FILE, NAME
from scripts.reality import cs2_scores
from scripts.reality.cs2_scores import MapScore
from scripts.reality.labels import RoundKey, round_winners
from scripts.reality.map_wins import resources
from scripts.reality.place import data_set
from scripts.reality.snapshots import DATES, Snapshot, half_of, read

_LEVELS = 3
_CANDIDATES = (14_000, 16_000, 18_000, 20_000, 22_000, 24_000, 27_000, 30_000, 34_000)
_CLASSES = 3  #: of positions in a half: after the pistol round, after the second, later
_AHEAD = 5  #: rounds that a choice of thresholds must foresee
_SPREADS = tuple(round(0.02 * step, 2) for step in range(2, 26))
_ALIKE = 0.5  #: of the logarithm of likelihood: what this many maps cannot tell apart
_WORTHS = tuple(round(0.05 * step, 2) for step in range(8, 23))  #: of a level today
_PENALTY, _SIDE_PENALTY, _SHARED = 0.5, 2.0, 8.0
_SKILLS = np.linspace(-1.2, 1.2, 25)
_SHARES = (0.46, 0.48, 0.5, 0.52, 0.54, 0.56, 0.58)  #: of rounds that CT wins on maps of today
_HALF = 12  #: rounds of a half in CS2
_RARE = 0.01  #: moves less likely than this are left out
_DIGITS = 4


class Opening(msgspec.Struct, frozen=True):
    """The first moment of a round of regulation: both sides' resources, and who won it."""

    key: RoundKey
    map_name: str
    position: int
    resources: tuple[int, int]
    ct_won: bool


def fit(data: Path) -> tuple[MapCoefficients, list[DataSet]]:
    """The section `maps`, from the snapshots and scores in `data`."""
    snapshots = list(read(data / FILE))
    results, sets = cs2_scores.read_all(data)
    found = with_today(fitted(snapshots, round_winners(snapshots)), results)
    return found, [data_set(data / FILE, len(snapshots), DATES), *sets]


def fitted(snapshots: Sequence[Snapshot], winners: Mapping[RoundKey, bool]) -> MapCoefficients:
    """Levels and moves that describe these rounds best; as if they were worth as much today, without a spread
    of skill and sides of today."""
    rounds = openings(snapshots, winners)
    return min(
        (_economy(rounds, chosen) for chosen in combinations(_CANDIDATES, _LEVELS - 1)),
        key=lambda one: _loss_ahead(rounds, one),
    )


def with_today(found: MapCoefficients, results: Sequence[MapScore]) -> MapCoefficients:
    """With what these scores say of maps of today."""
    return of_today(found, *scores(found, results).likeliest())


def of_today(found: MapCoefficients, today: float, spread: float = 0.0) -> MapCoefficients:
    """With these numbers, and sides calibrated to them."""
    offset, slope = _calibrated_sides(described(found, today))
    return msgspec.structs.replace(
        found, today=today, skill_spread=spread, side_offset=offset, side_slope=slope
    )


def side_of(found: MapCoefficients, map_name: str) -> float:
    """What a map of today adds for CT, in logits."""
    return found.side_offset + found.side_slope * logit(ct_share(map_name))


def openings(snapshots: Sequence[Snapshot], winners: Mapping[RoundKey, bool]) -> list[Opening]:
    """The first row of each round of regulation."""
    found = []
    for one in snapshots:
        half, position = half_of(one.round_index)
        if one.opens_round and half < 2:
            found.append(Opening(one.key, one.map_name, position, resources(one), winners[one.key]))
    return found


def _economy(rounds: Sequence[Opening], thresholds: tuple[int, ...]) -> MapCoefficients:
    """Everything about money for these thresholds."""
    levels = _levels(rounds, thresholds)
    later = np.array([one.position > 0 for one in rounds])
    won = np.array([float(one.ct_won) for one in rounds])
    names = sorted({one.map_name for one in rounds})
    at = np.array([names.index(one.map_name) for one in rounds])
    size = len(thresholds) + 1
    features = np.hstack([np.eye(len(names))[at], *(np.eye(size)[levels[:, side]] for side in (0, 1))])
    penalty = np.array([_SIDE_PENALTY] * len(names) + [_PENALTY] * 2 * size)
    weights = [float(weight) for weight in regress(features[later], won[later], penalty)]
    pistol = logit(float((won[~later].sum() + 1) / ((~later).sum() + 2)))
    sides = dict(zip(names, (round(side, _DIGITS) for side in weights), strict=False))
    return MapCoefficients(
        thresholds=thresholds,
        ct=_rounded(weights[len(names) : len(names) + size]),
        t=_rounded(weights[len(names) + size :]),
        pistol=round(pistol, _DIGITS),
        ct_moves=_moves(rounds, levels[:, 0], won > 0),
        t_moves=_moves(rounds, levels[:, 1], won == 0),
        sides={NAME: sides},
        side_offset=0.0,
        side_slope=1.0,
        today=1.0,
        skill_spread=0.0,
    )


def _levels(rounds: Sequence[Opening], thresholds: tuple[int, ...]) -> NDArray[np.int64]:
    """CT's and T's level in each round."""
    return np.searchsorted(thresholds, np.array([one.resources for one in rounds]), side="right")


def _moves(rounds: Sequence[Opening], levels: NDArray[np.int64], won: NDArray[np.bool_]) -> tuple[Moves, ...]:
    """How often each level follows. What is seldom seen after the second round is completed from later
    ones."""
    size = int(levels.max()) + 1
    counts = np.zeros((_CLASSES, 2, size, size))
    for index, (one, following) in enumerate(pairwise(rounds)):
        if following.key == (one.key[0], one.key[1] + 1) and following.position:
            level = levels[index] if one.position else 0
            counts[min(one.position, _CLASSES - 1), int(won[index]), level, levels[index + 1]] += 1
    all_later = counts[1:].sum(axis=0) + 0.1
    shared = all_later / all_later.sum(axis=-1, keepdims=True)
    first = counts[0][:, :1, :]
    return (_shares(first), *(_shares(later + _SHARED * shared) for later in counts[1:]))


def _shares(counts: NDArray[np.float64]) -> Moves:
    shares = counts / counts.sum(axis=-1, keepdims=True)
    shares = np.where(shares < _RARE, 0.0, shares)
    shares /= shares.sum(axis=-1, keepdims=True)
    lost, won = (tuple(_rounded(row, last=True) for row in rows.tolist()) for rows in shares)
    return lost, won


def _rounded(values: Sequence[float], last: bool = False) -> tuple[float, ...]:
    """Rounded; with `last` the largest takes what is missing to 1."""
    found = [round(float(value), _DIGITS) for value in values]
    if last:
        found[found.index(max(found))] += 1 - sum(found)
    return tuple(round(value, _DIGITS) for value in found)


def _loss_ahead(rounds: Sequence[Opening], found: MapCoefficients) -> float:
    """The log loss of rounds up to five ahead, from the state of a round: what a chain is for."""
    levels = _levels(rounds, found.thresholds)
    states = levels[:, 0] * len(found.ct) + levels[:, 1]
    total, count = 0.0, 0
    for name, side in found.sides[NAME].items():
        of_map = [index for index, one in enumerate(rounds) if one.map_name == name and one.position]
        for first in range(1, _CLASSES):
            starts = [index for index in of_map if min(rounds[index].position, _CLASSES - 1) == first]
            for step, chances in enumerate(_ahead(described(found), side, first)):
                for index in starts:
                    if _same_half(rounds, index, index + step):
                        chance = chances[states[index]]
                        total -= float(np.log(chance if rounds[index + step].ct_won else 1 - chance))
                        count += 1
    return total / count


def _ahead(found: Economies, side: float, first: int) -> Iterable[NDArray[np.float64]]:
    """CT's chance of the round at the position `first`, and of those up to five later, by the state in it."""
    wins = logistic(np.array(found.scarce.logits[1]) + side)
    moved = np.eye(len(wins))
    for position in range(first, first + _AHEAD + 1):
        yield moved @ wins
        following = np.zeros_like(moved)
        for won, weights in ((False, 1 - wins), (True, wins)):
            for state, move in enumerate(found.scarce.following(position, won)):
                for after, chance in move:
                    following[state, after] += weights[state] * chance
        moved = moved @ following


def _same_half(rounds: Sequence[Opening], index: int, later: int) -> bool:
    """Whether the other round follows in the same half, with all between them seen."""
    if later >= len(rounds):
        return False
    of_map, number = rounds[index].key
    return rounds[later].key == (of_map, number + later - index) and (
        rounds[later].position == rounds[index].position + later - index
    )


class Scores(NamedTuple):
    """What CS2 maps say: by the worth of later levels, the logarithm of how likely the scores of each match
    are under each skill of its first team."""

    worths: tuple[float, ...]
    by_skill: tuple[NDArray[np.float64], ...]

    def likeliest(self, of: NDArray[np.int64] | None = None) -> tuple[float, float]:
        """The worth and the spread of skill under which the scores of these matches, or of all, are
        likeliest. Of worths that scores cannot tell apart, the one that is nearest to the snapshots'."""
        found = {
            (worth, spread): log_likelihood(table if of is None else table[of], spread)
            for worth, table in zip(self.worths, self.by_skill, strict=True)
            for spread in _SPREADS
        }
        best = max(found.values())
        worth = max(worth for (worth, _), chance in found.items() if chance > best - _ALIKE)
        return worth, max(_SPREADS, key=lambda spread: found[worth, spread])


def log_likelihood(by_skill: NDArray[np.float64], spread: float) -> float:
    """The logarithm of how likely matches are of which `by_skill` has that by skill."""
    weights = np.exp(-(_SKILLS**2) / (2 * spread**2))
    top = by_skill.max(axis=1, keepdims=True)
    return float((top[:, 0] + np.log(np.exp(by_skill - top) @ (weights / weights.sum()))).sum())


def scores(
    found: MapCoefficients, results: Sequence[MapScore], worths: tuple[float, ...] = _WORTHS
) -> Scores:
    """Of these maps, under the coefficients of levels and moves. Which team began as CT is not known, and the
    maps of a match are played at one skill."""
    matches = {name: number for number, name in enumerate(dict.fromkeys(one.match for one in results))}
    tables = []
    for worth in worths:
        today = of_today(found, worth)
        economy = described(today, worth).scarce
        table = np.zeros((len(matches), len(_SKILLS)))
        for name in sorted({one.map_name for one in results}):
            side = side_of(today, name)
            chances = np.array([score_chances(economy, side, skill) for skill in _SKILLS.tolist()])
            for one in results:
                if one.map_name == name:
                    mine, turned = (_score_index(each.half, each.regulation) for each in (one, one.turned))
                    table[matches[one.match]] += np.log((chances[:, mine] + chances[::-1, turned]) / 2)
        tables.append(table)
    return Scores(worths, tuple(tables))


def score_chances(economy: Economy, side: float, skill: float) -> list[float]:
    """The chance of each score of a CS2 map at half-time and after regulation (`_score_index`), for the team
    that begins as CT and is ahead by `skill`, on a map that adds `side` for CT."""
    first = from_start(Half(economy, _HALF, side + skill, skill)).shares()
    second = from_start(Half(economy, _HALF, side - skill, -skill))
    level = second.turned().shares()
    chances = [0.0] * (_HALF + 1) * (_HALF + 2) ** 2
    for mine, chance in enumerate(first):
        theirs = _HALF - mine
        for needed, is_ct in ((_HALF + 1 - mine, False), (_HALF + 1 - theirs, True)):
            if needed > _HALF:
                continue
            other = mine if is_ct else theirs
            for more, win in enumerate(second.own_row(needed) if is_ct else second.other_row(needed)):
                if other + more < _HALF:
                    score = (other + more, _HALF + 1) if is_ct else (_HALF + 1, other + more)
                    chances[_score_index((mine, theirs), score)] = chance * win
        chances[_score_index((mine, theirs), (_HALF, _HALF))] = chance * level[theirs]
    return chances


def _score_index(half: tuple[int, int], score: tuple[int, int]) -> int:
    return (half[0] * (_HALF + 2) + score[0]) * (_HALF + 2) + score[1]


def _calibrated_sides(found: Economies) -> tuple[float, float]:
    """What a map on which CT wins a share of rounds adds: how the chain, between even teams, gives that
    share."""
    known = [(logit(share), _side_of(found, share)) for share in _SHARES]
    logits, sides = np.array(known).T
    slope, offset = np.polyfit(logits, sides, 1)
    return round(float(offset), _DIGITS), round(float(slope), _DIGITS)


def _side_of(found: Economies, share: float) -> float:
    """By bisection."""
    low, high = -1.0, 1.0
    while high - low > 1e-5:
        side = (low + high) / 2
        won = from_start(Half(found.scarce, _HALF, side, 0.0)).shares()
        expected = sum(wins * chance for wins, chance in enumerate(won)) / _HALF
        low, high = (side, high) if expected < share else (low, side)
    return (low + high) / 2
