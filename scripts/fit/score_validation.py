"""The chain judged on scores of today's maps: cs2_results_2026 and cs2_maps_2026_02, all tiers, of whose
teams nothing is known.

    python -m scripts.fit.score_validation [--plot docs/half_times.svg]

Each tenth of the matches is predicted by `today` and `skill_spread` as fitted to the others; levels and moves
are those of the package, which come from other maps. Prints who wins from half-time beside a logistic curve,
one chance for all leaders and the constant; how often leads hold; regulation's rounds and overtimes;
and who wins from half-time where earlier rows of cs2_maps_2026_02 rate the teams. Intervals hold 95 % of
draws of whole matches.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot
from msgspec.structs import replace

from app.domain.match import MapPlay
from app.domain.strength import MapPlayed, MapResult
from app.trading.coefficients import MapCoefficients, load
from app.trading.half_walk import described
from app.trading.map_scores import MapParameters, MapState, finals, map_parameters
from app.trading.model import Skill
from app.trading.ratings import Normal, RatingHistory, rating_model
from app.trading.skill import posterior
from scripts.fit.maps import of_today, scores, side_of
from scripts.reality import cs2_scores
from scripts.reality.cs2_scores import MAX_ROUNDS, MapScore, Rounds, read_maps, read_teams
from scripts.reality.half_times import FOLDS, a_wins, held_curve, held_leader, match_numbers, wins_from_half
from scripts.reality.judging import compared
from scripts.reality.place import real_data
from scripts.reality.scores import Predictions, log_loss, samples, shown
from scripts.svg import save

_HALF, _OVERTIME = MAX_ROUNDS // 2, 6
_LEADS = (7, 8, 9, 10)
_ENDS = (0.025, 0.975)


class Lead(NamedTuple):
    """How often the leader at half-time won, with its interval, and how often the chain has it."""

    score: int
    maps: int
    won: float
    low: float
    high: float
    chain: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    maps, _ = cs2_scores.read_all(real_data())
    fitted = load().maps
    chances = list(held(fitted, maps))
    _print_winners(maps, chances)
    found = list(leads(maps, chances))
    for one in found:
        print(
            f"leader {one.score}:{_HALF - one.score} at half-time wins: {one.won:.3f} "
            f"[{one.low:.3f}, {one.high:.3f}] ({one.maps} maps), chain {one.chain:.3f}"
        )
    _print_lengths(maps, fitted.skill_spread)
    _print_rated(real_data() / cs2_scores.MAPS)
    if options.plot:
        draw(maps, found, options.plot)


def held(fitted: MapCoefficients, maps: Sequence[MapScore]) -> Iterator[float]:
    """Team a's chance from half-time, of each map in order."""
    known, matches = scores(fitted, maps), match_numbers(maps)
    number = np.arange(matches.max() + 1)
    found = [known.likeliest(np.flatnonzero(number % FOLDS != fold)) for fold in range(FOLDS)]
    print(f"today, skill_spread by fold: {found}")
    folds = [of_today(fitted, *one) for one in found]
    economies = [described(one, one.today) for one in folds]
    for one, match in zip(maps, matches, strict=True):
        at = match % FOLDS
        side = side_of(folds[at], one.map_name)
        even = MapParameters(0.0, side, True, MAX_ROUNDS, _OVERTIME, economies[at])
        yield wins_from_half(one.half, even, Skill(0.0, folds[at].skill_spread))


def _print_winners(maps: Sequence[MapScore], chances: Sequence[float]) -> None:
    of, came = match_numbers(maps), [float(one.a_won) for one in maps]
    curve = held_curve(maps)
    judged = compared(chances, came, of.tolist(), {"curve": curve, "leader": held_leader(maps)})
    print(f"winner from half-time, {judged.n} maps\n  ours       {shown(judged.ours)}")
    for name, figures in judged.references.items():
        print(f"  {name:10} {shown(figures)}")
    ours, others = (Predictions(np.array(one), np.array(came), of) for one in (chances, curve))
    gains = [log_loss(ours.take(rows)) - log_loss(others.take(rows)) for rows in samples(ours)]
    low, high = np.quantile(gains, _ENDS)
    gain = log_loss(ours) - log_loss(others)
    print(f"  log loss less that of the curve {gain:+.4f} [{low:+.4f}, {high:+.4f}]")


def leads(maps: Sequence[MapScore], chances: Sequence[float]) -> Iterator[Lead]:
    """Of all maps with such a lead at half-time."""
    for lead in _LEADS:
        rows = [
            (match, (one.half[0] > one.half[1]) == one.a_won, chance if one.half[0] == lead else 1 - chance)
            for one, match, chance in zip(maps, match_numbers(maps), chances, strict=True)
            if max(one.half) == lead
        ]
        of, won, chain = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
        drawn = [won[chosen].mean() for chosen in samples(Predictions(chain, won, of.astype(np.int64)))]
        low, high = (float(end) for end in np.quantile(drawn, _ENDS))
        yield Lead(lead, len(rows), float(won.mean()), low, high, float(chain.mean()))


def _print_lengths(maps: Sequence[MapScore], skill_spread: float) -> None:
    """Rounds of regulation and overtimes, seen and as the chain has them by all that was fitted."""
    cases = posterior(Skill(0.0, skill_spread), lambda _: 0.0)
    names = [one.map_name for one in maps]
    expected = [
        (min(home + away, MAX_ROUNDS), home + away > MAX_ROUNDS, weight * chance * count / len(names))
        for name, count in Counter(names).items()
        for weight, skill in cases
        for (home, away), chance in finals(replace(_even(name), skill=skill), MapState(0, 0))
    ]
    mean = sum(rounds * chance for rounds, _, chance in expected)
    spread = sum((rounds - mean) ** 2 * chance for rounds, _, chance in expected) ** 0.5
    overtime = sum(chance for _, more, chance in expected if more)
    lengths = np.array([sum(one.regulation) for one in maps])
    level = np.array([one.regulation == (_HALF, _HALF) for one in maps], dtype=float)
    error, of_level = (1.96 * float(one.std()) / len(maps) ** 0.5 for one in (lengths, level))
    print(
        f"rounds of regulation: {lengths.mean():.2f} ({error:.2f} either way) ± {lengths.std():.2f}, "
        f"chain {mean:.2f} ± {spread:.2f}"
    )
    print(f"overtime: {level.mean():.3f} ({of_level:.3f} either way), chain {overtime:.3f}")


def _print_rated(path: Path) -> None:
    """The winner from half-time by the package's numbers, with the teams rated by earlier matches and not."""
    maps = list(read_maps(path))
    rated = list(_rated_skills(maps, read_teams(path)))
    chances = [
        wins_from_half(one.half, _even(one.map_name), Skill(mean, variance**0.5))
        for one, (mean, variance) in zip(maps, rated, strict=True)
    ]
    judged = compared(
        chances,
        [float(one.a_won) for one in maps],
        match_numbers(maps).tolist(),
        {"unrated": [a_wins(one.map_name, one.half) for one in maps]},
    )
    print(f"winner from half-time, teams rated, {judged.n} maps\n  ours       {shown(judged.ours)}")
    print(f"  unrated    {shown(judged.references['unrated'])}")
    spread = float(np.mean([variance**0.5 for _, variance in rated]))
    print(f"  mean spread of skill {spread:.3f}, chain by lead: " + _shown_leads(maps, chances))


def _rated_skills(maps: Sequence[MapScore], teams: Mapping[int, tuple[int, int]]) -> Iterator[Normal]:
    """How much better team a is before each map's match, by the matches before it. The file's days are not
    known of all rows: none pass."""
    model = rating_model()
    history = RatingHistory(model, lambda _, at: model.unlisted(at))
    for _, played in groupby(maps, key=lambda one: one.match):
        of_match = list(played)
        a, b = (history.rating(team, 0) for team in teams[of_match[0].row])
        yield from [model.skill(a, b, MAX_ROUNDS)] * len(of_match)
        for one in of_match:
            result = MapResult("a" if one.a_won else "b", one.final, MAX_ROUNDS)
            history.apply(MapPlayed(str(one.row), 0, one.match, *teams[one.row], result))


def _even(map_name: str) -> MapParameters:
    return map_parameters(MapPlay(number=1, name=map_name, max_rounds=MAX_ROUNDS), 0.0, True)


def _shown_leads(maps: Sequence[MapScore], chances: Sequence[float]) -> str:
    return ", ".join(
        f"{one.score}:{_HALF - one.score} {one.chain:.3f} (won {one.won:.3f} of {one.maps})"
        for one in leads(maps, chances)
    )


def _mean_from(maps: Sequence[MapScore], half: Rounds) -> float:
    """The leader's chance at this score at half-time, over these maps' names."""
    return float(np.mean([a_wins(one.map_name, half) for one in maps]))


def draw(maps: Sequence[MapScore], found: Sequence[Lead], path: Path) -> None:
    """The leader's chance by its rounds at half-time: as observed, with intervals, and the chain's."""
    figure, axes = pyplot.subplots(figsize=(4.6, 3.2))
    rounds = range(_HALF // 2, _HALF + 1)
    axes.plot(rounds, [_mean_from(maps, (one, _HALF - one)) for one in rounds], label="chain")
    axes.errorbar(
        [one.score for one in found],
        [one.won for one in found],
        [[one.won - one.low for one in found], [one.high - one.won for one in found]],
        fmt="o",
        capsize=3,
        label=f"observed, {len(maps)} maps",
    )
    axes.set(xlabel="rounds of the leader at half-time", ylabel="wins the map", ylim=(0.45, 1.02))
    axes.legend(loc="lower right")
    save(figure, path)


if __name__ == "__main__":
    main()
