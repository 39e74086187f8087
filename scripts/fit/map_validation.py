"""The chain of a map's rounds judged by cross-validation over maps, and on the scores of CS2 maps.

    python -m scripts.fit.map_validation [--folds 10]

Prints what chances of winning the map at the start of rounds are worth, each tenth of the maps predicted by
fits to the others, beside a coin race, with intervals (whole maps drawn again); and how the chain's CS2 maps
compare with cs2_results_2026.
"""

import argparse
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from app.trading.coefficients import load
from app.trading.half_walk import described
from app.trading.map_scores import MapParameters, MapState, finals, half_scores, mixture, wins_map
from scripts.fit import maps, rounds
from scripts.reality import cs2_results, map_wins
from scripts.reality.judging import Prediction
from scripts.reality.labels import map_results, round_winners
from scripts.reality.map_wins import MapPredictor
from scripts.reality.place import real_data
from scripts.reality.scores import Predictions, log_loss, measured, samples, shown
from scripts.reality.snapshots import Snapshot, read

_LEADS = (7, 8, 9, 10)
#: Three skills with the mean and the variance of a normal spread (Gauss's quadrature).
_POINTS = ((2 / 3, 0.0), (1 / 6, -(3**0.5)), (1 / 6, 3**0.5))


class Held(msgspec.Struct, frozen=True):
    """A prediction by fits that have not seen its map."""

    row: Snapshot
    chance: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--folds", type=int, default=10)
    folds = parser.parse_args().folds
    snapshots = list(read(real_data() / rounds.FILE))
    results = list(cs2_results.read(real_data() / maps.RESULTS_FILE))
    held = [one for fold in range(folds) for one in _held(snapshots, results, fold, folds)]
    _print_maps(snapshots, held)
    _print_cs2(results)


def _held(
    snapshots: Sequence[Snapshot], results: Sequence[cs2_results.MapScore], fold: int, folds: int
) -> Iterator[Held]:
    others = [row for row in snapshots if row.map_index % folds != fold]
    winners = round_winners(others)
    predictor = MapPredictor(
        maps.fitted(others, winners, results),
        rounds.fitted(others, winners, rounds.with_all_known),
        rounds.NAME,
    )
    rows = [row for row in snapshots if row.map_index % folds == fold]
    at = {row.row: row for row in rows}
    found: Iterator[Prediction] = map_wins.predictions(rows, predictor.starter_wins)
    return (Held(at[one.row], one.chance) for one in found)


def _print_maps(snapshots: Sequence[Snapshot], held: Sequence[Held]) -> None:
    results = map_results(snapshots, round_winners(snapshots))
    of = np.array([one.row.map_index for one in held])
    came = np.array([results[one.row.map_index] for one in held])
    ours = Predictions(np.array([one.chance for one in held]), came, of)
    coins = Predictions(np.array([map_wins.coin_race(one.row) for one in held]), came, of)
    print(f"map winner at {len(held)} round starts\n  ours       {shown(measured(ours))}")
    print(f"  coin race  {shown(measured(coins))}")
    gains = [log_loss(coins.take(rows)) - log_loss(ours.take(rows)) for rows in samples(ours)]
    low, high = np.quantile(gains, (0.025, 0.975))
    gain = log_loss(coins) - log_loss(ours)
    print(f"  log loss below the coin race by {gain:.4f} [{low:.4f}, {high:.4f}]")


def _print_cs2(results: Sequence[cs2_results.MapScore]) -> None:
    """The shape of CS2 maps, seen and as the chain has it between teams of the fitted spread of skill."""
    fitted = load().maps
    cases = [
        (weight, MapParameters(step * fitted.skill_spread, 0.0, True, 24, 6, described(fitted)))
        for weight, step in _POINTS
    ]
    ended = mixture((weight, finals(parameters, MapState(0, 0))) for weight, parameters in cases)
    lengths = np.array([sum(one.regulation) for one in results])
    expected = [(min(home + away, 24), chance) for (home, away), chance in ended]
    mean = sum(length * chance for length, chance in expected)
    spread = sum((length - mean) ** 2 * chance for length, chance in expected) ** 0.5
    print(
        f"rounds of regulation: {lengths.mean():.2f} ± {lengths.std():.2f}, chain {mean:.2f} ± {spread:.2f}"
    )
    overtime = np.mean([one.regulation == (12, 12) for one in results])
    print(f"overtime: {overtime:.3f}, chain {sum(c for (h, a), c in ended if h + a > 24):.3f}")
    for lead in _LEADS:
        won = [max(one.half) == lead and _leader_won(one) for one in results if max(one.half) == lead]
        share, count = float(np.mean(won)), len(won)
        error = 1.96 * (share * (1 - share) / count) ** 0.5
        print(
            f"leader {lead}:{12 - lead} at half-time wins: {share:.3f} ± {error:.3f} ({count} maps), "
            f"chain {_from_half_time(lead, cases):.3f}"
        )


def _leader_won(one: cs2_results.MapScore) -> bool:
    return (one.half[0] > one.half[1]) == (one.final[0] > one.final[1])


def _from_half_time(lead: int, cases: Sequence[tuple[float, MapParameters]]) -> float:
    won = reached = 0.0
    for weight, parameters in cases:
        halves = dict(half_scores(parameters, MapState(0, 0)))
        for home in (lead, 12 - lead):
            chance = weight * halves[home, 12 - home]
            wins = wins_map(parameters, MapState(home, 12 - home))
            reached += chance
            won += chance * (wins if home == lead else 1 - wins)
    return won / reached


if __name__ == "__main__":
    main()
