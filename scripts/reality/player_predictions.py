"""Predicts players' kills on published maps, as prices do: from the final scores that the chain of rounds
gives, and from what earlier rows show of the player and of both teams in the same match.

Kinds: `before`, nothing of the map is known; `rounds`, its number of rounds is known, not who won them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from app.trading.half_walk import economies
from app.trading.lines import Distribution, Finals, Score, total
from app.trading.map_scores import MapParameters, MapState, finals, mixture
from app.trading.model import Skill
from app.trading.player_kills import MOST, KillModel, kill_model
from app.trading.ratings import rating_model
from app.trading.skill import posterior
from scripts.reality.judging import Judgement
from scripts.reality.player_rows import MAX_ROUNDS, OVERTIME_ROUNDS, Earlier, PlayerRow, earlier, maps, read
from scripts.reality.scores import Figure, Floats, Predictions, samples

KINDS = ("rounds", "before")
_IMPOSSIBLE = 1e-12
_OWN = 50  #: rounds
_DISPERSIONS = np.arange(1.05, 3.0, 0.05)


class KillPrediction(NamedTuple):
    """`row`: the file's data row, from 0. `chance`: that the player has so many `kills` on the map."""

    row: int
    kind: str
    kills: int
    chance: float


def judged(path: Path) -> tuple[list[KillPrediction], dict[str, Judgement]]:
    """The rows of a file predicted by the package's coefficients, and what that is worth."""
    rows = list(read(path))
    found = predicted(rows)
    predictions = [
        KillPrediction(row.row, kind, kills, chance)
        for row, by_kind in zip(rows, found, strict=True)
        for kind in KINDS
        for kills, chance in enumerate(chances(by_kind[kind]))
    ]
    return predictions, {
        kind: judgement(rows, losses(rows, [one[kind] for one in found]), {"constant": constant(rows, kind)})
        for kind in KINDS
    }


def predicted(rows: Sequence[PlayerRow], model: KillModel | None = None) -> list[dict[str, Distribution]]:
    """The kills of each row by kind, before any row of its map is learnt from; by the model that prices use
    unless another is given."""
    model = model or kill_model()
    found: list[dict[str, Distribution]] = []
    for scores, row, before in zip(final_scores(rows), rows, earlier(rows), strict=True):
        factor = before.level(model)
        after = [one for one in scores if total(*one[0]) == row.rounds] or _level_end(row)
        found.append({"rounds": _count(model, factor, after), "before": _count(model, factor, scores)})
    return found


def _level_end(row: PlayerRow) -> Finals:
    """Where the chain does not reach so many rounds: as many won as lost, on average."""
    half = row.rounds // 2
    return (((half, row.rounds - half), 0.5), ((row.rounds - half, half), 0.5))


def _count(model: KillModel, factor: float, scores: Sequence[tuple[Score, float]]) -> Distribution:
    weight = sum(chance for _, chance in scores)
    return model.count([(factor * model.expected(*score), chance / weight) for score, chance in scores])


def chances(found: Distribution) -> list[float]:
    """Of 0 to `MOST` kills."""
    tails = [1.0, *(found.over(kills + 0.5) for kills in range(MOST)), 0.0]
    return [tails[kills] - tails[kills + 1] for kills in range(MOST + 1)]


def final_scores(rows: Sequence[PlayerRow]) -> Iterator[Finals]:
    """For each row the final scores that its map may have, from its team's view."""
    played: dict[str, list[tuple[int, int]]] = {}
    first: dict[str, str] = {}
    for of_map in maps(rows):
        match = of_map[0].match
        home = first.setdefault(match, of_map[0].team)
        scores = _final_scores(tuple(played.get(match, ())))
        turned = tuple([((away, home), chance) for (home, away), chance in scores])
        yield from [scores if one.team == home else turned for one in of_map]
        one = of_map[0]
        played.setdefault(match, []).append((one.won, one.lost) if one.team == home else (one.lost, one.won))


@lru_cache(maxsize=1024)
def _final_scores(played: tuple[tuple[int, int], ...]) -> Finals:
    """The next map's final scores, after these of the same match; nothing else is known of the teams."""
    model = rating_model()
    mean, variance = model.skill(model.unlisted(0), model.unlisted(0), MAX_ROUNDS)

    def log_likelihood(skill: float) -> float:
        by_score = dict(_under(skill))
        return sum(log(by_score.get(score, _IMPOSSIBLE)) for score in played)

    cases = posterior(Skill(mean, variance**0.5), log_likelihood)
    return mixture((case.weight, _under(case.skill)) for case in cases)


@lru_cache(maxsize=64)
def _under(skill: float) -> Finals:
    sides = [
        MapParameters(skill, 0.0, starts_ct, MAX_ROUNDS, OVERTIME_ROUNDS, economies())
        for starts_ct in (True, False)
    ]
    return mixture((0.5, finals(one, MapState(0, 0))) for one in sides)


def losses(rows: Sequence[PlayerRow], found: Sequence[Distribution]) -> Floats:
    """The log loss of each row's count."""
    seen = [
        one.over(row.kills - 0.5) - one.over(row.kills + 0.5) for row, one in zip(rows, found, strict=True)
    ]
    return -np.log(np.maximum(seen, _IMPOSSIBLE))


def constant(
    rows: Sequence[PlayerRow],
    kind: str,
    fitted_to: Sequence[PlayerRow] = (),
    factors: Floats | float = 1.0,
) -> Floats:
    """The log losses of one negative binomial for everybody, by the map's rounds where they are known. Its
    mean and dispersion are right on average of the rows that it is fitted to: these very ones unless others
    are named. `factors`, one for each row, move its mean."""
    known = fitted_to or rows
    kills, rounds = _columns(known, kind)
    rate = kills.sum() / rounds.sum()
    found = [negative_binomial(rate * rounds, one, kills).mean() for one in _DISPERSIONS]
    kills, rounds = _columns(rows, kind)
    return negative_binomial(factors * rate * rounds, float(_DISPERSIONS[int(np.argmin(found))]), kills)


def _columns(rows: Sequence[PlayerRow], kind: str) -> tuple[Floats, Floats]:
    """Kills, and what they are in proportion to: rounds, or maps."""
    kills = np.array([float(row.kills) for row in rows])
    return kills, np.array([float(row.rounds) if kind == "rounds" else 1.0 for row in rows])


def own_rates(before: Sequence[Earlier], rate: float) -> Floats:
    """The simplest rule about players, for `constant`: all of a player's earlier rounds alike, moved towards
    the `rate` of all with the weight of 50 rounds, over that rate."""
    kills = [sum(k for k, _ in one.matches) + sum(row.kills for row in one.maps) for one in before]
    rounds = [sum(n for _, n in one.matches) + sum(row.rounds for row in one.maps) for one in before]
    found = (_OWN * rate + np.array(kills)) / (_OWN + np.array(rounds))
    return np.asarray(found / rate)


def negative_binomial(means: Floats, dispersion: float, kills: Floats) -> Floats:
    """The log losses of counts that are negative binomial with these means and this variance over them."""
    shapes, log_odds = means / (dispersion - 1), np.log(1 - 1 / dispersion)
    found: Floats = shapes * np.log(dispersion)
    for count in range(int(kills.max())):
        found = found - np.where(kills > count, np.log((count + shapes) / (count + 1)) + log_odds, 0.0)
    return found


def judgement(rows: Sequence[PlayerRow], ours: Floats, references: Mapping[str, Floats]) -> Judgement:
    """Ours and the references, and by how much ours is better, with intervals of whole maps."""
    of_maps = np.array([index for index, played in enumerate(maps(rows)) for _ in played])
    return Judgement(
        len(rows),
        {"log_loss": _figure(ours, of_maps)},
        {
            name: {"log_loss": _figure(one, of_maps), "ours_less": _figure(ours - one, of_maps)}
            for name, one in references.items()
        },
    )


def _figure(values: Floats, of_maps: np.ndarray) -> Figure:
    found = Predictions(values, values, of_maps)
    drawn = [float(values[sample].mean()) for sample in samples(found)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Figure(round(float(values.mean()), 4), round(float(low), 4), round(float(high), 4))
