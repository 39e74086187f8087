"""Teams' ratings: how far teams are apart, how fast that changes, and what a result tells.

In four steps, none with more than six numbers:

1. spreads, drift, pick and margins, by the log loss of cs2_maps_2025 (the rows before the scored ones, no
   ranks) and of csgo_maps_2021 (which has scores, and lasts long enough to see teams change), each file
   counting once;
2. the weight of published ranks: half of what describes the same rows best, because those ranks were
   collected after the maps;
3. points of the public ranking and those of teams that it does not list, by the ranking of 3 March 2025,
   three weeks before the first row; where that file is not among the data, they stay as last fitted;
4. what a difference of ratings is in a round (`round_skill`).

The scored rows judge: `python -m scripts.bench.reality maps`.
"""

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from app.domain.strength import TeamRating
from app.trading.coefficients import DataSet, RatingCoefficients, load
from app.trading.ratings import RatingModel
from scripts.fit.round_skill import with_round_skill
from scripts.fit.simplex import minimum
from scripts.reality import old_maps, rated_maps, team_maps
from scripts.reality.old_maps import OldMap
from scripts.reality.place import data_set
from scripts.reality.rated_maps import RatedMap, millis
from scripts.reality.team_maps import TeamMap

NEW, OLD = "cs2_maps_2025.csv", "csgo_maps_2021.csv"
#: `team,points` of the 79 best teams of that day. Not ours to ship; to fit points anew, make it
#: from github.com/ValveSoftware/counter-strike_regional_standings, live/2025.
RANKING = "public_ranking_2025_03_03.csv"
#: The part of a weight that a rank keeps which was known only after the maps.
_KEPT = 0.5
_DIGITS = 5
#: Where the search begins; the first step, with one logit a point, does not depend on the last three.
_START = RatingCoefficients(
    points_per_logit=1.0,
    prior_spread=0.4,
    strength_spread=0.4,
    drift=0.001,
    form_spread=0.4,
    pick=0.1,
    margin=1.0,
    noise=1.0,
    rank_weight=0.0,
    unlisted_points=0.0,
    round_skill=0.0,
    day_spread=0.0,
)
#: What the ranking's points decide.
_OF_POINTS = ("points_per_logit", "unlisted_points", "strength_spread")
_POSITIVE = ("prior_spread", "strength_spread", "drift", "form_spread", "margin", "noise")


def fit(data: Path) -> tuple[RatingCoefficients, list[DataSet]]:
    """The section `ratings`, from the files of `data`."""
    new, old = list(team_maps.read(data / NEW)), list(old_maps.read(data / OLD))
    ranking = read_ranking(data / RANKING)
    sets = [
        data_set(data / NEW, len(new), f"{new[0].date} to {new[-1].date}"),
        data_set(data / OLD, len(old), f"{old[0].date} to {old[-1].date}"),
    ]
    if ranking:
        sets.append(data_set(data / RANKING, len(ranking), "2025-03-03"))
    else:
        print(f"ratings: {data / RANKING} is missing; the points of the ranking stay as last fitted")
    return fitted([one for one in new if not one.scored], old, ranking), sets


def fitted(new: Sequence[TeamMap], old: Sequence[OldMap], ranking: dict[str, float]) -> RatingCoefficients:
    """The coefficients that describe these maps best; without a ranking, its points as last fitted."""
    found = _dynamics(new, old)
    found = replace(found, rank_weight=_KEPT * _rank_weight(found, new))
    found = _points(found, new, ranking) if ranking else _as_last_fitted(found)
    found = with_round_skill(found, old)
    return RatingCoefficients(
        **{name: round(getattr(found, name), _DIGITS) for name in RatingCoefficients.__struct_fields__}
    )


def read_ranking(path: Path) -> dict[str, float]:
    """Points by folded name of the team; none without the file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as text:
        return {cells["team"].casefold(): float(cells["points"]) for cells in csv.DictReader(text)}


def _dynamics(new: Sequence[TeamMap], old: Sequence[OldMap]) -> RatingCoefficients:
    def loss(found: RatingCoefficients) -> float:
        model = RatingModel(found)
        unrated = rated_maps.new_maps(new, lambda one: (model.unlisted(millis(one.date)),) * 2)
        return log_loss(model, unrated) + log_loss(model, rated_maps.old_maps(model, old))

    return _best(loss, _START, ("prior_spread", "drift", "form_spread", "pick", "margin", "noise"))


def _rank_weight(known: RatingCoefficients, new: Sequence[TeamMap]) -> float:
    def loss(found: RatingCoefficients) -> float:
        model = RatingModel(found)
        return log_loss(model, rated_maps.new_maps(new, lambda one: rated_maps.by_rank(model, one)))

    return _best(loss, replace(known, rank_weight=0.4), ("rank_weight",)).rank_weight


def _as_last_fitted(found: RatingCoefficients) -> RatingCoefficients:
    last = load().ratings
    return replace(found, **{name: getattr(last, name) for name in _OF_POINTS})


def _points(
    known: RatingCoefficients, new: Sequence[TeamMap], ranking: dict[str, float]
) -> RatingCoefficients:
    """With the points of a logit and those of an unlisted team."""

    def loss(found: RatingCoefficients) -> float:
        model = RatingModel(found)

        def priors(one: TeamMap) -> tuple[TeamRating, TeamRating]:
            a, b = (listed(model, ranking, name, millis(one.date)) for name in (one.team_a, one.team_b))
            return a, b

        return log_loss(model, rated_maps.new_maps(new, priors))

    start = replace(known, points_per_logit=1000.0, unlisted_points=min(ranking.values()))
    return _best(loss, start, _OF_POINTS)


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
