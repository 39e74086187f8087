"""The chain of a map's rounds judged by cross-validation over the maps of csgo_round_snapshots.

    python -m scripts.fit.map_validation [--folds 10]

Prints what chances of winning the map at the start of rounds are worth, each tenth of the maps predicted by
fits to the others, beside a coin race, with intervals (whole maps drawn again). Scores of today's maps judge
in `score_validation`.
"""

import argparse
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from scripts.fit import maps, rounds
from scripts.reality import map_wins
from scripts.reality.judging import Prediction
from scripts.reality.labels import map_results, round_winners
from scripts.reality.map_wins import MapPredictor
from scripts.reality.place import real_data
from scripts.reality.scores import Predictions, log_loss, measured, samples, shown
from scripts.reality.snapshots import Snapshot, read


class Held(msgspec.Struct, frozen=True):
    """A prediction by fits that have not seen its map."""

    row: Snapshot
    chance: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--folds", type=int, default=10)
    folds = parser.parse_args().folds
    snapshots = list(read(real_data() / rounds.FILE))
    _print_maps(snapshots, [one for fold in range(folds) for one in _held(snapshots, fold, folds)])


def _held(snapshots: Sequence[Snapshot], fold: int, folds: int) -> Iterator[Held]:
    others = [row for row in snapshots if row.map_index % folds != fold]
    winners = round_winners(others)
    predictor = MapPredictor(
        maps.fitted(others, winners),
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


if __name__ == "__main__":
    main()
