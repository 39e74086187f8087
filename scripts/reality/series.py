"""Series with odds (cs2_series_odds_2026): who wins them, and whether a best of three ends 2:0, by what was
known the day before: maps (in the form of cs2_maps_2025_06_12), winners of series, points of the public
ranking."""

import csv
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from uuid import UUID

import msgspec

from app.domain.match import Match
from app.domain.references import MarketAnchor
from app.domain.strength import MapPlayed, MapResult, TeamRating
from app.trading.forecast import Forecast
from app.trading.lines import Score
from app.trading.map_scores import match_finals
from app.trading.match_facts import collect_facts
from app.trading.ratings import Normal, RatingHistory, RatingModel, rating_model, weighed
from app.trading.reference_prices import Quote, consensus, fair
from scripts.reality import team_maps
from scripts.reality.judging import Judgement, Prediction, compared
from scripts.reality.rated_maps import played
from scripts.reality.snapshots import opened
from scripts.reality.team_maps import TeamMap, millis

#: Names of a team that are not the same but for spaces and case.
_ALIASES = {"navi": "natusvincere"}
_LEVEL = 10_000.0  #: points; only differences count


class Series(msgspec.Struct, frozen=True):
    """One row. `at`: the beginning of its day, Unix ms. `odds`: decimal, before play. `points`: how many more
    points of the public ranking team a has than team b, if known."""

    row: int
    at: int
    team_a: str
    team_b: str
    best_of: int
    odds: tuple[float, float]
    points: float | None
    a_won: bool


_OLD_SCALE = 812.0  #: points of a logit as they were fitted before this file was known
_FRESH_SECONDS = 86_400  #: for how long a price counts; those of the rows count as new
Reference = Callable[[Series], MarketAnchor | None]  #: what the market says of a row, None where nothing


def read(path: Path) -> Iterator[Series]:
    """The series of a file as published, plain or gzipped, in order."""
    with opened(path) as text:
        for row, cells in enumerate(csv.DictReader(text)):
            points = cells.get("valve_points_difference")
            yield Series(
                row,
                millis(cells["date"]),
                cells["team_a"],
                cells["team_b"],
                int(cells["best_of"]),
                (float(cells["odds_a"]), float(cells["odds_b"])),
                float(points) if points else None,
                cells["winner"] == cells["team_a"],
            )


def of_series(path: Path, maps: Path) -> tuple[list[Prediction], dict[str, Judgement]]:
    """The series of a file, predicted and judged. Winners alone are known, so that 2:0 is not judged."""
    rows, learnt = list(read(path)), list(team_maps.read(maps))
    found = list(predictions(rows, learnt, KINDS))
    came = [float(one.a_won) for one in rows]
    references = {
        "elo": list(elo(rows, learnt)),
        "points_812": [_by_points(one) for one in rows],
        "market": [fair(one.odds)[0] for one in rows],
    }
    judgements = {
        kind: compared([one.chance for one in found if one.kind == kind], came, range(len(rows)), references)
        for kind in KINDS
    }
    return found, judgements


def predictions(
    rows: Sequence[Series], maps: Sequence[TeamMap], kinds: Mapping[str, Reference]
) -> Iterator[Prediction]:
    """For each row its winner, by each of `kinds`, and `two_nil` by the kind `own`."""
    model = rating_model()
    for one, known in zip(rows, by_results(model, rows, maps), strict=True):
        ours = with_points(model, known, one)
        for kind, reference in kinds.items():
            ends = map_scores(ours, one.best_of, reference(one))
            yield Prediction(one.row, kind, sum(chance for (a, b), chance in ends.items() if a > b))
            if kind == "own" and one.best_of == 3:
                yield Prediction(one.row, "two_nil", ends[2, 0] + ends[0, 2])


def with_points(model: RatingModel, known: Normal | None, one: Series) -> Normal:
    """How much stronger team a is by results, and by points of the public ranking where the row has them, as
    operators import them. By points alone where a team has no results."""
    if one.points is None:
        unlisted = model.unlisted(one.at)
        return known or difference(model, unlisted, unlisted)
    points = model.of_points(one.points)
    return points if known is None else weighed(known, points)


def _anchor(one: Series) -> MarketAnchor | None:
    """The row's odds as those of one source, as new as they can be."""
    return consensus([Quote("odds", *one.odds, one.at)], one.at, stale_seconds=_FRESH_SECONDS).anchor


#: What is predicted of a series' winner, by kind.
KINDS: Mapping[str, Reference] = {"own": lambda _: None, "anchored": _anchor}


def by_results(
    model: RatingModel, rows: Sequence[Series], maps: Sequence[TeamMap]
) -> Iterator[Normal | None]:
    """How much stronger team a is in each row, without the day's form; None where a team has no results."""
    for one, (a, b), earlier in _with_history(rows, maps):
        history = RatingHistory(model, lambda _, at: model.unlisted(at))
        for event in earlier:
            history.apply(event)
        both = history.ratings.keys() >= {a, b}
        yield difference(model, history.rating(a, one.at), history.rating(b, one.at)) if both else None


def _with_history(
    rows: Sequence[Series], maps: Sequence[TeamMap]
) -> Iterator[tuple[Series, tuple[int, int], list[MapPlayed]]]:
    """Each row with the numbers of its teams and what was known the day before, in order of time: maps, and
    winners of earlier rows of which the maps are not known."""
    numbers: dict[str, int] = {}

    def number(team: str) -> int:
        folded = team.casefold().replace(" ", "")
        return numbers.setdefault(_ALIASES.get(folded, folded), len(numbers))

    events = [played(one, number(one.team_a), number(one.team_b)) for one in maps]
    seen = {(frozenset(one.teams), one.at) for one in events}
    for one in rows:
        a, b = number(one.team_a), number(one.team_b)
        earlier = [event for event in events if event.at < one.at]
        yield one, (a, b), sorted(earlier, key=lambda event: event.at)
        if (frozenset((a, b)), one.at) not in seen:
            events.append(_as_map(one, a, b))


def difference(model: RatingModel, a: TeamRating, b: TeamRating) -> Normal:
    """How much stronger a is than b, without the day's form."""
    scale = model.coefficients.points_per_logit
    return Normal((a.points - b.points) / scale, (a.spread**2 + b.spread**2) / scale**2)


def _as_map(one: Series, a: int, b: int) -> MapPlayed:
    """A series of which the winner alone is known tells what a map without a score tells."""
    reference = f"series:{one.row}"
    return MapPlayed(reference, one.at, reference, a, b, MapResult("a" if one.a_won else "b"))


def map_scores(difference: Normal, best_of: int, anchor: MarketAnchor | None = None) -> Mapping[Score, float]:
    """The chance of each final score in maps, as the match's markets are priced before its first map."""
    return _map_scores(round(difference.mean, 6), round(difference.variance, 6), best_of, anchor)


@lru_cache(maxsize=4096)
def _map_scores(
    mean: float, variance: float, best_of: int, anchor: MarketAnchor | None
) -> Mapping[Score, float]:
    scale = rating_model().coefficients.points_per_logit
    spread = (variance / 2) ** 0.5 * scale
    match = Match(
        id=UUID(int=0),
        number=0,
        home="a",
        away="b",
        event="",
        best_of=best_of,
        home_strength=_LEVEL + mean * scale,
        away_strength=_LEVEL,
        home_strength_sd=spread,
        away_strength_sd=spread,
        anchor=anchor,
    )
    return Forecast(collect_facts(match, ()), now=0).map_score_chances


def elo(rows: Sequence[Series], maps: Sequence[TeamMap]) -> Iterator[float]:
    """The reference: Elo with K 24 of each map, maps being independent."""
    for one, (a, b), earlier in _with_history(rows, maps):
        ratings: dict[int, float] = defaultdict(lambda: team_maps.ELO_START)
        for event in earlier:
            team_maps.elo_learns(ratings, event.a, event.b, event.result.winner == "a")
        yield _of_alike_maps(team_maps.elo_chance(ratings, a, b), one.best_of)


def _by_points(one: Series) -> float:
    return _of_alike_maps(1 / (1 + math.exp(-(one.points or 0.0) / _OLD_SCALE)), one.best_of)


def _of_alike_maps(chance: float, best_of: int) -> float:
    ends = match_finals(0, 0, best_of, (chance,) * best_of)
    return sum(part for (a, b), part in ends.items() if a > b)
