"""Teams' ratings: how far teams are apart, how fast that changes, and what a result tells.

In four steps, none with more than six numbers:

1. spreads, drift, form, pick, margin and noise, by how likely they make winners and scores: of
   cs2_maps_2025 (the rows before the scored ones, no ranks, no scores), cs2_maps_2025_06_12 (the rows after
   the last scored one), cs2_maps_2026_02 and, with a quarter of the weight, csgo_maps_2021 (which lasts long
   enough to see teams change);
2. the weight of published ranks: half of what describes the first of these files best, because those ranks
   were collected after the maps;
3. points of the public ranking, by the market's chances of cs2_series_odds_2026, to which points alone and
   points weighed with results must come as near as they can; then those of teams that the ranking does not
   list, by the ranking of 3 March 2025, three weeks before the first row of cs2_maps_2025; where that file
   is not among the data, they stay as last fitted;
4. what a difference of ratings is in a round (`round_skill`).

The scores are in the first step because winners alone do not tell how far teams are apart from how much a
result weighs: half of both predicts the next map as well. How likely a 2:0 is depends on it.

The scored rows judge: `python -m scripts.bench.reality maps`.
"""

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from app.domain.strength import TeamRating
from app.trading.coefficients import DataSet, RatingCoefficients, load
from app.trading.map_scores import match_finals
from app.trading.ratings import Normal, RatingModel
from app.trading.reference_prices import fair
from scripts.fit.round_skill import round_skill
from scripts.fit.simplex import minimum
from scripts.reality import cs2_scores, old_maps, rated_maps, series, team_maps
from scripts.reality.old_maps import OldMap
from scripts.reality.place import data_set
from scripts.reality.rated_maps import RatedMap
from scripts.reality.series import Series
from scripts.reality.team_maps import TeamMap

NEW, LATER, LATEST = "cs2_maps_2025.csv", "cs2_maps_2025_06_12.csv", "cs2_maps_2026_02.csv"
OLD, ODDS = "csgo_maps_2021.csv", "cs2_series_odds_2026.csv"
#: `team,points` of the 79 best teams of that day. Not ours to ship; to fit unlisted points anew, make it
#: from github.com/ValveSoftware/counter-strike_regional_standings, live/2025.
RANKING = "public_ranking_2025_03_03.csv"
#: The part of a weight that a rank keeps which was known only after the maps.
_KEPT = 0.5
_ALONE_WEIGHT = 0.5  #: of points without results, where points weighed with results have 1
_OLD_WEIGHT = 0.25  #: of a CS:GO map, where one of CS2 has 1
_DIGITS = 5
#: Where the search begins; the first step, with one logit a point, does not depend on the last three.
_START = RatingCoefficients(
    points_per_logit=1.0,
    prior_spread=0.4,
    strength_spread=0.4,
    drift=0.001,
    form_spread=0.5,
    pick=0.1,
    margin=1.5,
    noise=2.5,
    rank_weight=0.0,
    unlisted_points=0.0,
    round_skill=0.0,
)
_POSITIVE = ("points_per_logit", "prior_spread", "strength_spread", "drift", "form_spread", "margin", "noise")
#: Points and weights of Gauss's quadrature over a normal distribution.
_NODES = (
    (0.0, 8 / 15),
    *((sign * 1.355626, 0.2220759) for sign in (-1, 1)),
    *((sign * 2.856970, 0.0112574) for sign in (-1, 1)),
)


class RealResults(msgspec.Struct, frozen=True):
    """What the fit reads. `modern` are the CS2 maps of three files, without those that judge."""

    new: Sequence[TeamMap]
    later: Sequence[TeamMap]
    modern: Sequence[Sequence[TeamMap]]
    old: Sequence[OldMap]
    odds: Sequence[Series]
    ranking: dict[str, float]


def read(data: Path) -> RealResults:
    new, later, latest = (list(team_maps.read(data / name)) for name in (NEW, LATER, LATEST))
    last = max(one.at for one in new)
    return RealResults(
        new,
        later,
        ([one for one in new if not one.scored], [one for one in later if one.at > last], latest),
        list(old_maps.read(data / OLD)),
        list(series.read(data / ODDS)),
        read_ranking(data / RANKING),
    )


def fit(data: Path) -> tuple[RatingCoefficients, list[DataSet]]:
    """The section `ratings`, from the files of `data`."""
    found = read(data)
    old = found.old
    sets = [
        data_set(data / NEW, len(found.new), _dates(found.new)),
        data_set(data / LATER, len(found.later), _dates(found.later)),
        data_set(data / LATEST, len(found.modern[-1]), cs2_scores.DATES),
        data_set(data / OLD, len(old), f"{old[0].date} to {old[-1].date}"),
        data_set(data / ODDS, len(found.odds), _dates(found.odds)),
    ]
    if found.ranking:
        sets.append(data_set(data / RANKING, len(found.ranking), "2025-03-03"))
    else:
        print(f"ratings: {data / RANKING} is missing; points of unlisted teams stay as last fitted")
    return fitted(found), sets


def _dates(rows: Sequence[TeamMap] | Sequence[Series]) -> str:
    days = [datetime.fromtimestamp(one.at / 1000, UTC).date() for one in rows]
    return f"{min(days)} to {max(days)}"


def fitted(known: RealResults) -> RatingCoefficients:
    """The coefficients that describe these results best."""
    found = dynamics(known.modern, known.old)
    found = replace(found, rank_weight=_KEPT * _rank_weight(found, known.modern[0]))
    found = _points(found, known.odds, known.later)
    if known.ranking:
        found = _unlisted(found, known.modern[0], known.ranking)
    else:
        found = replace(found, unlisted_points=load().ratings.unlisted_points)
    found = replace(found, round_skill=round_skill())
    return RatingCoefficients(
        **{name: round(getattr(found, name), _DIGITS) for name in RatingCoefficients.__struct_fields__}
    )


def read_ranking(path: Path) -> dict[str, float]:
    """Points by folded name of the team; none without the file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as text:
        return {cells["team"].casefold(): float(cells["points"]) for cells in csv.DictReader(text)}


def dynamics(modern: Sequence[Sequence[TeamMap]], old: Sequence[OldMap]) -> RatingCoefficients:
    """Spreads, drift, form, pick, margin and noise; all else as where the search begins."""

    def loss(found: RatingCoefficients) -> float:
        model = RatingModel(found)
        maps = sum(surprise(model, unrated(model, one)) for one in modern)
        return (maps + _OLD_WEIGHT * surprise(model, rated_maps.old_maps(model, old))) / count

    count = sum(len(one) for one in modern) + _OLD_WEIGHT * len(old)
    return _best(loss, _START, ("prior_spread", "drift", "form_spread", "pick", "margin", "noise"))


def unrated(model: RatingModel, maps: Sequence[TeamMap]) -> Iterable[RatedMap]:
    """The maps, of whose teams nothing is known before the first."""
    return rated_maps.new_maps(maps, lambda one: (model.unlisted(one.at),) * 2)


def surprise(model: RatingModel, maps: Iterable[RatedMap]) -> float:
    """The negative logarithm of how likely winners and scores were, each map predicted before it is learnt
    from; the sum over maps."""
    rows = list(maps)
    total = 0.0
    for one, (chance, expected) in zip(rows, rated_maps.play(model, rows), strict=True):
        result = one.event.result
        total += loss_of(chance, result.winner == "a")
        measured = model.measured(result)
        if measured is not None:
            # In rounds, not in logits: the unit must not depend on what is fitted.
            rounds = math.sqrt(result.max_rounds) / model.coefficients.margin
            variance = (expected.variance + model.coefficients.noise) * rounds**2
            deviation = (measured - expected.mean) * rounds
            total += (math.log(2 * math.pi * variance) + deviation**2 / variance) / 2
    return total


def _rank_weight(known: RatingCoefficients, new: Sequence[TeamMap]) -> float:
    def loss(found: RatingCoefficients) -> float:
        model = RatingModel(found)
        return log_loss(model, rated_maps.new_maps(new, lambda one: rated_maps.by_rank(model, one)))

    return _best(loss, replace(known, rank_weight=0.4), ("rank_weight",)).rank_weight


def _points(known: RatingCoefficients, odds: Sequence[Series], maps: Sequence[TeamMap]) -> RatingCoefficients:
    """With the points of a logit, and what points are off by."""
    results = series.by_results(RatingModel(known), odds, maps)
    rows = [(one, known_by, fair(one.odds)[0]) for one, known_by in zip(odds, results, strict=True)]

    def loss(found: RatingCoefficients) -> float:
        model, form = RatingModel(found), found.form_spread**2
        total = 0.0
        for one, known_by, market in rows:
            alone, own = (series.with_points(model, each, one) for each in (None, known_by))
            for weight, (mean, variance) in ((_ALONE_WEIGHT, alone), (1.0, own)):
                chance = _wins_series(Normal(mean, variance + form), one.best_of)
                total += weight * (market * loss_of(chance, True) + (1 - market) * loss_of(chance, False))
        return total / len(rows)

    return _best(loss, replace(known, points_per_logit=500.0), ("points_per_logit", "strength_spread"))


def _wins_series(difference: Normal, best_of: int) -> float:
    """The chance of the first team, its maps being alike."""
    spread, total = math.sqrt(difference.variance), 0.0
    for step, weight in _NODES:
        chance = 1 / (1 + math.exp(-(difference.mean + step * spread)))
        ends = match_finals(0, 0, best_of, (chance,) * best_of)
        total += weight * sum(part for (a, b), part in ends.items() if a > b)
    return total


def _unlisted(
    known: RatingCoefficients, new: Sequence[TeamMap], ranking: dict[str, float]
) -> RatingCoefficients:
    """With the points of an unlisted team."""

    def loss(found: RatingCoefficients) -> float:
        model = RatingModel(found)

        def priors(one: TeamMap) -> tuple[TeamRating, TeamRating]:
            a, b = (listed(model, ranking, name, one.at) for name in (one.team_a, one.team_b))
            return a, b

        return log_loss(model, rated_maps.new_maps(new, priors))

    start = replace(known, unlisted_points=min(ranking.values()))
    return _best(loss, start, ("unlisted_points",))


def listed(model: RatingModel, ranking: dict[str, float], team: str, at: int) -> TeamRating:
    points = ranking.get(team.casefold())
    return model.unlisted(at) if points is None else model.of_strength(points, at)


def log_loss(model: RatingModel, maps: Iterable[RatedMap]) -> float:
    """The mean over maps."""
    found = losses(model, maps)
    return sum(found) / len(found)


def losses(model: RatingModel, maps: Iterable[RatedMap]) -> list[float]:
    """The log loss of each map, which is predicted before it is learnt from."""
    rows = list(maps)
    return [
        loss_of(chance, one.event.result.winner == "a")
        for one, (chance, _) in zip(rows, rated_maps.play(model, rows), strict=True)
    ]


def loss_of(chance: float, won: bool) -> float:
    return -math.log(chance if won else 1 - chance)


def _best(
    loss: Callable[[RatingCoefficients], float], start: RatingCoefficients, names: Sequence[str]
) -> RatingCoefficients:
    """`start` with these numbers so that `loss` is least; positive ones are searched by their logarithm."""

    def at(point: Sequence[float]) -> RatingCoefficients:
        values = (
            math.exp(value) if name in _POSITIVE else value for name, value in zip(names, point, strict=True)
        )
        return replace(start, **dict(zip(names, values, strict=True)))

    begin = [
        math.log(value) if name in _POSITIVE else value
        for name, value in ((name, getattr(start, name)) for name in names)
    ]
    steps = [0.3 if name in _POSITIVE else 0.2 * abs(value) for name, value in zip(names, begin, strict=True)]
    return at(minimum(lambda point: loss(at(point)), begin, steps))
