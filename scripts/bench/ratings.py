"""What teams' ratings are worth under other priors, and what a score tells beside the winner.

    python -m scripts.bench.ratings

The scored rows of cs2_maps_2025 with the ranks of the file (which know the future), with the places and
points of the public ranking of 3 March 2025, three weeks before the first row (where that file lies among
the data: `scripts.fit.ratings`), and without either; each beside Elo with K 24, the difference map by map.
Then csgo_maps_2021, learnt from winners and from scores.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from msgspec.structs import replace

from app.domain.strength import TeamRating
from app.trading.coefficients import load
from app.trading.ratings import RatingModel
from scripts.fit.ratings import NEW, OLD, RANKING, listed, loss_of, losses, read_ranking
from scripts.reality import old_maps, rated_maps, team_maps
from scripts.reality.place import real_data
from scripts.reality.rated_maps import UNRANKED, RatedMap
from scripts.reality.team_maps import TeamMap

_DRAWS, _SEED = 2000, 20261122
_WARM_UP = 500  #: maps of csgo_maps_2021 until the teams are rated
Priors = Callable[[TeamMap], tuple[TeamRating, TeamRating]]


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "").parse_args()
    model, data = RatingModel(load().ratings), real_data()
    maps = list(team_maps.read(data / NEW))
    scored = [one.scored for one in maps]
    elo = [loss_of(found.chance, maps[found.row].a_won) for found in team_maps.elo(maps)]
    print(f"cs2_maps_2025, {len(elo)} scored maps; Elo with K 24: {_interval(elo)}")
    for name, priors in _priors(model, read_ranking(data / RANKING)).items():
        played = losses(model, rated_maps.new_maps(maps, priors))
        ours = [one for one, wanted in zip(played, scored, strict=True) if wanted]
        lead = _interval([mine - other for mine, other in zip(ours, elo, strict=True)])
        print(f"  {name:34} {_interval(ours)}   less Elo {lead}")
    old = list(old_maps.read(data / OLD))
    with_scores = list(rated_maps.old_maps(model, old))
    winners = [_without_score(one) for one in with_scores]
    by_score, by_winner = (losses(model, each)[_WARM_UP:] for each in (with_scores, winners))
    gained = _interval([ours - other for ours, other in zip(by_score, by_winner, strict=True)])
    print(f"csgo_maps_2021, {len(by_score)} maps")
    print(f"  {'from scores':34} {_interval(by_score)}   less winners {gained}")
    print(f"  {'from winners':34} {_interval(by_winner)}")


def _priors(model: RatingModel, points: dict[str, float]) -> dict[str, Priors]:
    places = {name: place for place, name in enumerate(sorted(points, key=points.__getitem__)[::-1], start=1)}

    def both(rate: Callable[[str, int], TeamRating]) -> Priors:
        return lambda one: (rate(one.team_a, one.at), rate(one.team_b, one.at))

    def of_place(team: str, at: int) -> TeamRating:
        return model.of_rank(min(places.get(team.casefold(), UNRANKED), UNRANKED), at)

    if not points:
        print(f"  (without the ranking of 3 March 2025: {RANKING} is not among the data)")
    of_ranking = {
        "places of 3 March 2025": both(of_place),
        "points of 3 March 2025": both(partial(listed, model, points)),
    }
    return {
        "ranks of the file": lambda one: rated_maps.by_rank(model, one),
        **(of_ranking if points else {}),
        "nothing known before the first map": both(lambda _, at: model.unlisted(at)),
    }


def _without_score(one: RatedMap) -> RatedMap:
    return replace(one, event=replace(one.event, result=replace(one.event.result, rounds=None)))


def _interval(values: Sequence[float]) -> str:
    """The mean, and between what 95 % of the means of samples of as many maps lie."""
    found = np.asarray(values)
    random = np.random.default_rng(_SEED)
    means = [found[random.integers(0, len(found), len(found))].mean() for _ in range(_DRAWS)]
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{found.mean():+.4f} [{low:+.4f}, {high:+.4f}]"


if __name__ == "__main__":
    main()
