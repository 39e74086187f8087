"""What teams' ratings are worth under other priors and on maps that no coefficient has seen, what a score
tells beside the winner, and how often a best of three ends 2:0.

    python -m scripts.bench.ratings [--refit] [--plot docs/two_nil.svg]

The scored rows of cs2_maps_2025 with the ranks of the file (which know the future), with the places and
points of the public ranking of 3 March 2025, three weeks before the first row (where that file lies among
the data: `scripts.fit.ratings`), and without either; each beside Elo with K 24, the difference map by map.
Then csgo_maps_2021, learnt from winners and from scores; and the best of threes of three files. `--refit`
judges each file of CS2 maps by a fit to the others. Intervals hold 95 % of draws of whole matches.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot
from msgspec.structs import replace

from app.domain.strength import TeamRating
from app.trading.coefficients import load
from app.trading.ratings import RatingModel
from scripts.fit.ratings import (
    LATER,
    LATEST,
    NEW,
    OLD,
    RANKING,
    dynamics,
    listed,
    loss_of,
    losses,
    read,
    read_ranking,
    unrated,
)
from scripts.reality import old_maps, rated_maps, team_maps
from scripts.reality.best_of_three import BestOfThree, best_of_threes
from scripts.reality.place import real_data
from scripts.reality.rated_maps import UNRANKED, RatedMap
from scripts.reality.team_maps import TeamMap
from scripts.svg import save

matplotlib.rcParams.update({"svg.fonttype": "none"})

_DRAWS, _SEED = 2000, 20261122
_WARM_UP = 500  #: maps of csgo_maps_2021 until the teams are rated
_GROUPS, _SIGMAS, _RANGE = 4, 2.0, (0.48, 0.68)  #: of the picture
Priors = Callable[[TeamMap], tuple[TeamRating, TeamRating]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--refit", action="store_true", help="judge each file by a fit to the others, too")
    parser.add_argument("--plot", type=Path, help="where to draw 2:0 as said and as it came")
    options = parser.parse_args()
    model, data = RatingModel(load().ratings), real_data()
    _print_priors(model, data)
    _print_scores(model, data)
    if options.refit:
        _print_unseen(data)
    found = _best_of_threes(data)
    if options.plot:
        draw(found, options.plot)


def _print_priors(model: RatingModel, data: Path) -> None:
    maps = list(team_maps.read(data / NEW))
    scored = [one.match for one in maps if one.scored]
    elo = _elo_losses(maps)
    print(f"cs2_maps_2025, {len(elo)} scored maps; Elo with K 24: {_interval(elo, scored)}")
    for name, priors in _priors(model, read_ranking(data / RANKING)).items():
        played = losses(model, rated_maps.new_maps(maps, priors))
        ours = [loss for loss, one in zip(played, maps, strict=True) if one.scored]
        print(f"  {name:34} {_interval(ours, scored)}   less Elo {_interval(_less(ours, elo), scored)}")


def _print_scores(model: RatingModel, data: Path) -> None:
    """csgo_maps_2021 names no matches."""
    with_scores = list(rated_maps.old_maps(model, list(old_maps.read(data / OLD))))
    winners = [_without_score(one) for one in with_scores]
    by_score, by_winner = (losses(model, each)[_WARM_UP:] for each in (with_scores, winners))
    each = [str(number) for number in range(len(by_score))]
    print(f"csgo_maps_2021, {len(by_score)} maps")
    less = _interval(_less(by_score, by_winner), each)
    print(f"  {'from scores':34} {_interval(by_score, each)}   less winners {less}")
    print(f"  {'from winners':34} {_interval(by_winner, each)}")


def _print_unseen(data: Path) -> None:
    """Each file of CS2 maps, of which nothing is known before its first map, by a fit to the others."""
    known = read(data)
    for name, maps in zip((NEW, LATER, LATEST), known.modern, strict=True):
        model = RatingModel(dynamics([one for one in known.modern if one is not maps], known.old))
        ours, matches = losses(model, unrated(model, maps)), [one.match for one in maps]
        elo = _elo_losses([replace(one, scored=True) for one in maps])
        print(f"{name}, {len(ours)} maps, by a fit to the others; Elo with K 24: {_interval(elo, matches)}")
        print(f"  {_interval(ours, matches)}   less Elo {_interval(_less(ours, elo), matches)}")


def _best_of_threes(data: Path) -> list[BestOfThree]:
    found = []
    for name in (NEW, LATER, LATEST):
        of_file = list(best_of_threes(list(team_maps.read(data / name)), rated_maps.by_rank))
        print(f"{name}, {len(of_file)} best of threes")
        _print_two_nil(of_file)
        found += of_file
    print(f"all, {len(found)} best of threes")
    _print_two_nil(found)
    return found


def _print_two_nil(found: Sequence[BestOfThree]) -> None:
    each = [str(number) for number in range(len(found))]
    said, independent = (np.mean([getattr(one, name) for one in found]) for name in ("said", "independent"))
    print(f"  2:0 said {said:.4f}, of independent maps {independent:.4f}, ", end="")
    print(f"came {_interval([float(one.came) for one in found], each)}")


def draw(found: Sequence[BestOfThree], path: Path) -> None:
    """A dot for each fifth of the best of threes, by the chance that was said, with two standard errors."""
    rows = sorted(found)
    groups = [rows[len(rows) * at // _GROUPS : len(rows) * (at + 1) // _GROUPS] for at in range(_GROUPS)]
    came = np.array([np.mean([one.came for one in group]) for group in groups])
    errors = _SIGMAS * np.sqrt(came * (1 - came) / np.array([len(group) for group in groups]))
    figure, axes = pyplot.subplots(figsize=(4.2, 3.6))
    axes.plot(_RANGE, _RANGE, linewidth=0.8, color="grey")
    for field, label, marker in (("said", "match markets", "o"), ("independent", "independent maps", "x")):
        predicted = [np.mean([getattr(one, field) for one in group]) for group in groups]
        axes.errorbar(predicted, came, errors, fmt=marker, linewidth=0.8, label=label)
    axes.set(xlabel="chance of 2:0, as said", ylabel="share that ended 2:0", xlim=_RANGE, ylim=_RANGE)
    axes.legend()
    save(figure, path)


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


def _elo_losses(maps: Sequence[TeamMap]) -> list[float]:
    won = {one.row: one.a_won for one in maps}
    return [loss_of(found.chance, won[found.row]) for found in team_maps.elo(maps)]


def _less(ours: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one - other for one, other in zip(ours, others, strict=True)]


def _without_score(one: RatedMap) -> RatedMap:
    return replace(one, event=replace(one.event, result=replace(one.event.result, rounds=None)))


def _interval(values: Sequence[float], matches: Sequence[str]) -> str:
    """The mean, and between what 95 % of the means of samples of as many matches lie."""
    _, match = np.unique(np.asarray(matches), return_inverse=True)
    sums, counts = np.bincount(match, np.asarray(values)), np.bincount(match)
    random = np.random.default_rng(_SEED)
    drawn = (random.integers(0, len(sums), len(sums)) for _ in range(_DRAWS))
    means = [sums[rows].sum() / counts[rows].sum() for rows in drawn]
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{np.mean(values):+.4f} [{low:+.4f}, {high:+.4f}]"


if __name__ == "__main__":
    main()
