"""Predicts players' kills on published maps, as prices do: from the final scores that the chain of rounds
gives, and from what earlier rows show of the player and of both teams in the same match.

Kinds: `before`, nothing of the map is known; `rounds`, its number of rounds is known, not who won them.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from app.trading.half_walk import economies
from app.trading.lines import Distribution, Finals, total
from app.trading.map_scores import MapParameters, MapState, finals, mixture
from app.trading.model import Skill
from app.trading.player_kills import MOST, PlayerRecord, expected_kills, kill_count, level
from app.trading.ratings import rating_model
from app.trading.skill import posterior
from scripts.reality.judging import Judgement
from scripts.reality.player_rows import MAX_ROUNDS, OVERTIME_ROUNDS, PlayerRow, earlier, maps, read
from scripts.reality.scores import Figure, Floats, Predictions, samples

KINDS = ("rounds", "before")
_IMPOSSIBLE = 1e-12
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
        kind: judgement(rows, losses(rows, [one[kind] for one in found]), constant(rows, kind))
        for kind in KINDS
    }


def predicted(rows: Sequence[PlayerRow]) -> list[dict[str, Distribution]]:
    """The kills of each row by kind, before any row of its map is learnt from."""
    known = [one.record for one in earlier(rows)]
    found: list[dict[str, Distribution]] = []
    for score, row, record in zip(final_scores(rows), rows, known, strict=True):
        after = [one for one in score if total(*one[0]) == row.rounds]
        found.append(
            {"rounds": _of_player(record, after or _level_end(row)), "before": _of_player(record, score)}
        )
    return found


def _level_end(row: PlayerRow) -> Finals:
    """Where the chain does not reach so many rounds: as many won as lost, on average."""
    half = row.rounds // 2
    return (((half, row.rounds - half), 0.5), ((row.rounds - half, half), 0.5))


def _of_player(record: PlayerRecord, scores: Iterable[tuple[tuple[int, int], float]]) -> Distribution:
    ends = list(scores)
    weight, factor = sum(chance for _, chance in ends), level(record)
    return kill_count((factor * expected_kills(*score), chance / weight) for score, chance in ends)


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


def constant(rows: Sequence[PlayerRow], kind: str) -> Floats:
    """The log losses of one negative binomial for everybody, right on average of these very rows: by the
    map's rounds where they are known."""
    kills = np.array([row.kills for row in rows])
    rounds = np.array([row.rounds for row in rows], dtype=float) if kind == "rounds" else np.ones(len(rows))
    means = rounds * kills.sum() / rounds.sum()
    return min(
        (negative_binomial(means, one, kills) for one in _DISPERSIONS), key=lambda one: float(one.mean())
    )


def negative_binomial(means: Floats, dispersion: float, kills: np.ndarray) -> Floats:
    """The log losses of counts that are negative binomial with these means and this variance over them."""
    shapes, log_odds = means / (dispersion - 1), np.log(1 - 1 / dispersion)
    found: Floats = shapes * np.log(dispersion)
    for count in range(int(kills.max())):
        found = found - np.where(kills > count, np.log((count + shapes) / (count + 1)) + log_odds, 0.0)
    return found


def judgement(rows: Sequence[PlayerRow], ours: Floats, reference: Floats) -> Judgement:
    """Ours and the constant, and by how much ours is better, with intervals of whole maps."""
    of_maps = np.array([index for index, played in enumerate(maps(rows)) for _ in played])
    figures = {"log_loss": _figure(ours, of_maps)}
    return Judgement(
        len(rows),
        figures,
        {
            "constant": {
                "log_loss": _figure(reference, of_maps),
                "ours_less": _figure(ours - reference, of_maps),
            }
        },
    )


def _figure(values: Floats, of_maps: np.ndarray) -> Figure:
    found = Predictions(values, values, of_maps)
    drawn = [float(values[sample].mean()) for sample in samples(found)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Figure(round(float(values.mean()), 4), round(float(low), 4), round(float(high), 4))
