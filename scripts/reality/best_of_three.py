"""How often a best of three ends 2:0: as the match's markets say it before the first map, and as it came."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from app.domain.strength import TeamRating
from app.trading.ratings import RatingHistory, RatingModel, rating_model
from scripts.reality import series
from scripts.reality.rated_maps import played
from scripts.reality.team_maps import TeamMap

Prior = Callable[[RatingModel, TeamMap], tuple[TeamRating, TeamRating]]


class BestOfThree(NamedTuple):
    """`said`: the chance of 2:0 for either team; `independent`: the same if one map said nothing about the
    other; `came`: whether it did; `scored`: its maps are to be predicted, not only learnt from."""

    said: float
    independent: float
    came: bool
    scored: bool


def best_of_threes(maps: Sequence[TeamMap], prior: Prior) -> Iterator[BestOfThree]:
    """Those of a file in order of time, each predicted before its first map; `prior` rates teams that are not
    known yet."""
    model, numbers = rating_model(), dict[str, int]()
    priors: dict[int, TeamRating] = {}
    history = RatingHistory(model, lambda team, at: model.aged(priors[team], at))
    for _, rows in groupby(maps, key=lambda one: one.match):
        of_match = list(rows)
        first = of_match[0]
        a, b = (numbers.setdefault(team, len(numbers)) for team in (first.team_a, first.team_b))
        priors |= zip((a, b), prior(model, first), strict=True)
        if is_best_of_three(of_match):
            known = series.difference(model, history.rating(a, first.at), history.rating(b, first.at))
            ends, wins = series.map_scores(known, 3), series.map_scores(known, 1)[1, 0]
            said, independent = ends[2, 0] + ends[0, 2], wins**2 + (1 - wins) ** 2
            yield BestOfThree(said, independent, len(of_match) == 2, first.scored)
        for one in of_match:
            history.apply(played(one, a, b))


def is_best_of_three(maps: Sequence[TeamMap]) -> bool:
    """By how it was played, since not every file says so: the second win of a team was the last map."""
    won = sum(one.a_won for one in maps)
    decided = max(won, len(maps) - won) == 2
    return decided and (len(maps) == 2 or (len(maps) == 3 and maps[0].a_won is not maps[1].a_won))
