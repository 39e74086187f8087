"""Published maps predicted one after the other by teams' ratings, each before it is learnt from."""

from collections.abc import Callable, Iterable, Iterator

import msgspec

from app.domain.strength import MapPlayed, MapResult, Place, TeamRating
from app.trading.ratings import Normal, RatingHistory, RatingModel
from scripts.reality import team_maps
from scripts.reality.judging import Prediction
from scripts.reality.old_maps import MAX_ROUNDS, OldMap
from scripts.reality.team_maps import TeamMap

#: Published ranks are of the 50 best; the places behind them say little, and count as the first of them.
UNRANKED = 51


class RatedMap(msgspec.Struct, frozen=True):
    """A map to be predicted and then learnt from; `priors` rates teams of which no result is known yet."""

    event: MapPlayed
    priors: tuple[TeamRating, TeamRating]


def play(model: RatingModel, maps: Iterable[RatedMap]) -> Iterator[tuple[float, Normal]]:
    """For each map, before it is learnt from: the chance of the first team, and the logit that it follows
    from."""
    priors: dict[int, TeamRating] = {}
    history = RatingHistory(model, lambda team, at: model.aged(priors[team], at))
    for one in maps:
        priors |= zip(one.event.teams, one.priors, strict=True)
        meeting = history.meeting(one.event)
        picker = one.event.result.picked_by
        yield model.chance(meeting, picker), model.expected(meeting, picker)
        history.apply(one.event)


def by_rank(model: RatingModel, one: TeamMap) -> tuple[TeamRating, TeamRating]:
    """Both teams as rated by their published ranks alone."""
    ranks = (min(rank or UNRANKED, UNRANKED) for rank in (one.rank_a, one.rank_b))
    a, b = (model.of_rank(rank, one.at) for rank in ranks)
    return a, b


def new_maps(
    maps: Iterable[TeamMap], priors: Callable[[TeamMap], tuple[TeamRating, TeamRating]]
) -> Iterator[RatedMap]:
    """CS2 maps, teams first rated by `priors`."""
    numbers: dict[str, int] = {}
    for one in maps:
        a, b = (numbers.setdefault(team, len(numbers)) for team in (one.team_a, one.team_b))
        yield RatedMap(played(one, a, b), priors(one))


def played(one: TeamMap, a: int, b: int) -> MapPlayed:
    """The map as ratings learn from it, between the teams with these numbers."""
    pickers: dict[str, Place] = {one.team_a: "a", one.team_b: "b"}
    winner: Place = "a" if one.a_won else "b"
    result = MapResult(winner, one.rounds, team_maps.MAX_ROUNDS, pickers.get(one.picked_by, ""))
    return MapPlayed(str(one.row), one.at, one.match, a, b, result)


def old_maps(model: RatingModel, maps: Iterable[OldMap]) -> Iterator[RatedMap]:
    """CS:GO maps with their scores. The file names no matches: each map stands for itself."""
    numbers: dict[str, int] = {}
    for row, one in enumerate(maps):
        a, b = (numbers.setdefault(team, len(numbers)) for team in (one.team_a, one.team_b))
        result = MapResult("a" if one.rounds[0] > one.rounds[1] else "b", one.rounds, MAX_ROUNDS)
        unlisted = model.unlisted(team_maps.millis(one.date))
        event = MapPlayed(str(row), unlisted.at, str(row), a, b, result)
        yield RatedMap(event, (unlisted, unlisted))


def predictions(model: RatingModel, maps: Iterable[TeamMap]) -> Iterator[Prediction]:
    """The chance of team_a, before each row with `scored` is learnt from."""
    rows = list(maps)
    played = play(model, new_maps(rows, lambda one: by_rank(model, one)))
    for one, (chance, _) in zip(rows, played, strict=True):
        if one.scored:
            yield Prediction(one.row, "map", chance)
