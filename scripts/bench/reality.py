"""What prices are worth on published data of real play: each row is predicted from itself and earlier ones
alone.

    python -m scripts.bench.reality rounds FILE [--predictions OUT.csv] [--json]
    python -m scripts.bench.reality maps FILE [--predictions OUT.csv] [--json]
    python -m scripts.bench.reality halves FILE [--predictions OUT.csv] [--json]
    python -m scripts.bench.reality players FILE [--predictions OUT.csv] [--json]
    python -m scripts.bench.reality series FILE --maps MAPS [--predictions OUT.csv] [--json]

`rounds` reads csgo_round_snapshots, `maps` cs2_maps_2025, cs2_maps_2025_06_12 or cs2_maps_2026_02, `halves`
cs2_maps_2026_02, `players` cs2_player_kills_2026_02, `series` cs2_series_odds_2026 (and maps that ratings
learn from), plain or gzipped. Intervals hold 95 % of draws of whole maps, matches or series.

On the files that coefficients were fitted to, `rounds`, `halves` and `players` know what they predict;
`scripts.fit.validation`, `scripts.fit.score_validation` and `scripts.fit.player_validation` judge on maps
that a fit has not seen.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from app.trading.coefficients import load
from app.trading.ratings import rating_model
from scripts.fit.rounds import NAME
from scripts.reality import (
    half_times,
    map_wins,
    player_predictions,
    rated_maps,
    round_predictions,
    series,
    team_maps,
)
from scripts.reality.judging import Judgement, Prediction, compared, write
from scripts.reality.labels import map_results, round_winners
from scripts.reality.map_wins import MapPredictor
from scripts.reality.scores import shown
from scripts.reality.snapshots import Snapshot, read

Found = tuple[list[Prediction], dict[str, Judgement]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("rounds", "maps", "halves", "players", "series"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--maps", type=Path, help="for `series`: the maps that ratings learn from")
    parser.add_argument(
        "--predictions",
        type=Path,
        help="where to write them, with the header row,kind,p (players: row,kind,kills,p)",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    if options.what == "series" and options.maps is None:
        parser.error("series needs --maps")
    found: dict[str, Callable[[Path], tuple[Sequence[tuple[object, ...]], dict[str, Judgement]]]] = {
        "rounds": of_rounds,
        "maps": of_maps,
        "halves": half_times.of_halves,
        "players": player_predictions.judged,
        "series": lambda path: series.of_series(path, options.maps),
    }
    predictions, judgements = found[options.what](options.file)
    if options.predictions:
        write(predictions, options.predictions)
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(_document(judgements)), indent=2).decode())
    else:
        _print(judgements)


def of_rounds(path: Path) -> Found:
    """Rounds and maps of the snapshots in this file."""
    snapshots = list(read(path))
    predictions = predicted_rounds(snapshots)
    return predictions, judged_rounds(snapshots, predictions)


def predicted_rounds(snapshots: Sequence[Snapshot]) -> list[Prediction]:
    """Of these rows of a file, by the package's coefficients."""
    return [
        *round_predictions.predictions(snapshots, load().rounds, NAME),
        *map_wins.predictions(snapshots, MapPredictor(load().maps, load().rounds, NAME).starter_wins),
    ]


def judged_rounds(snapshots: Sequence[Snapshot], predictions: Sequence[Prediction]) -> dict[str, Judgement]:
    """Predictions of these rows, judged by what came: by kind, those in play also by phase."""
    winners = round_winners(snapshots)
    results = map_results(snapshots, winners)
    judgements = {}
    for kind, chosen in _kinds(snapshots, predictions).items():
        rows = [snapshots[one.row] for one in chosen]
        of_map = kind == "map_win"
        judgements[kind] = compared(
            [one.chance for one in chosen],
            [results[row.map_index] if of_map else float(winners[row.key]) for row in rows],
            [row.map_index for row in rows],
            {"coin_race": [map_wins.coin_race(row) for row in rows]} if of_map else {},
        )
    return judgements


def _kinds(snapshots: Sequence[Snapshot], predictions: Sequence[Prediction]) -> dict[str, list[Prediction]]:
    kinds: dict[str, list[Prediction]] = {}
    for one in predictions:
        kinds.setdefault(one.kind, []).append(one)
        if one.kind == "in_round":
            kinds.setdefault(f"in_round_{snapshots[one.row].state.phase}", []).append(one)
    return kinds


def of_maps(path: Path) -> Found:
    """CS2 maps between teams, in order of time."""
    maps = list(team_maps.read(path))
    predictions = list(rated_maps.predictions(rating_model(), maps))
    rows = [maps[one.row] for one in predictions]
    matches = {row.match: number for number, row in enumerate(rows)}
    judgement = compared(
        [one.chance for one in predictions],
        [float(row.a_won) for row in rows],
        [matches[row.match] for row in rows],
        {"elo": [one.chance for one in team_maps.elo(maps)]},
    )
    return predictions, {"map": judgement}


def _document(judgements: Mapping[str, Judgement]) -> dict[str, dict[str, object]]:
    """By kind: n, the value of each measure, its interval, and the values of the references."""
    return {
        kind: {
            "n": one.n,
            **{name: figure.value for name, figure in one.ours.items()},
            "intervals": {name: (figure.low, figure.high) for name, figure in one.ours.items()},
            "references": {
                reference: {name: figure.value for name, figure in figures.items()}
                for reference, figures in one.references.items()
            },
        }
        for kind, one in judgements.items()
    }


def _print(judgements: Mapping[str, Judgement]) -> None:
    for kind, one in judgements.items():
        print(f"{kind}, {one.n} predictions\n  ours       {shown(one.ours)}")
        for name, figures in one.references.items():
            print(f"  {name:10} {shown(figures)}")


if __name__ == "__main__":
    main()
