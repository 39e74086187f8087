"""Published maps predicted one after the other by teams' ratings, each before it is learnt from."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

import msgspec

from app.domain.team_rating import DayForm, MapResult, TeamRating
from app.trading.ratings import Meeting, Normal, RatingModel
from scripts.reality.judging import Prediction
from scripts.reality.old_maps import MAX_ROUNDS, OldMap
from scripts.reality.team_maps import TeamMap

#: Published ranks are of the 50 best; the places behind them say little, and count as the first of them.
UNRANKED = 51


class RatedMap(msgspec.Struct, frozen=True):
    """A map to be predicted and then learnt from. `match` is equal for the maps of one match; `priors` rates
    teams of which no result is known yet."""

    at: int
    match: str
    teams: tuple[str, str]
    priors: tuple[TeamRating, TeamRating]
    result: MapResult


def play(model: RatingModel, maps: Iterable[RatedMap]) -> Iterator[tuple[float, Normal]]:
    """For each map, before it is learnt from: the chance of the first team, and how much stronger it is."""
    ratings: dict[str, TeamRating] = {}
    match, form = "", DayForm(0.0, 0.0)
    for one in maps:
        if one.match != match:
            match, form = one.match, model.new_form()
        a, b = (
            model.aged(ratings.get(team, prior), one.at)
            for team, prior in zip(one.teams, one.priors, strict=True)
        )
        meeting = Meeting(a, b, form)
        yield model.chance(meeting, one.result.picked_by), model.difference(meeting)
        after = model.after(meeting, one.result)
        ratings |= zip(one.teams, (after.a, after.b), strict=True)
        form = after.form


def by_rank(model: RatingModel, one: TeamMap) -> tuple[TeamRating, TeamRating]:
    """Both teams as rated by their published ranks alone."""
    ranks = (min(rank or UNRANKED, UNRANKED) for rank in (one.rank_a, one.rank_b))
    a, b = (model.of_rank(rank, millis(one.date)) for rank in ranks)
    return a, b


def new_maps(
    maps: Iterable[TeamMap], priors: Callable[[TeamMap], tuple[TeamRating, TeamRating]]
) -> Iterator[RatedMap]:
    """CS2 maps, teams first rated by `priors`."""
    for one in maps:
        pickers = {one.team_a: "a", one.team_b: "b"}
        result = MapResult("a" if one.a_won else "b", picked_by=pickers.get(one.picked_by, ""))  # type: ignore[arg-type]
        yield RatedMap(millis(one.date), one.match, (one.team_a, one.team_b), priors(one), result)


def old_maps(model: RatingModel, maps: Iterable[OldMap]) -> Iterator[RatedMap]:
    """CS:GO maps with their scores. The file names no matches: each map stands for itself."""
    for number, one in enumerate(maps):
        result = MapResult("a" if one.rounds[0] > one.rounds[1] else "b", one.rounds, MAX_ROUNDS)
        at = millis(one.date)
        unlisted = model.unlisted(at)
        yield RatedMap(at, str(number), (one.team_a, one.team_b), (unlisted, unlisted), result)


def predictions(model: RatingModel, maps: Iterable[TeamMap]) -> Iterator[Prediction]:
    """The chance of team_a, before each row with `scored` is learnt from."""
    rows = list(maps)
    played = play(model, new_maps(rows, lambda one: by_rank(model, one)))
    for one, (chance, _) in zip(rows, played, strict=True):
        if one.scored:
            yield Prediction(one.row, "map", chance)


def millis(date: str) -> int:
    return int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp() * 1000)
