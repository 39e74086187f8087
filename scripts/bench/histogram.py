"""Delays as a table: how many were at most so long, for several series side by side."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence

_EDGES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return float(ordered[min(len(ordered) - 1, int(len(ordered) * share))])


def histogram(series: Mapping[str, Sequence[float]]) -> str:
    """A row for each bound up to the longest delay (ms), with the share of each series that is at most so
    long, then the quantiles."""
    ordered = {name: sorted(values) for name, values in series.items()}
    longest = max(values[-1] for values in ordered.values())
    rows = [f"| at most, ms | {' | '.join(ordered)} |", f"|{' --- |' * (len(ordered) + 1)}"]
    for number, edge in enumerate(_EDGES):
        if number and _EDGES[number - 1] >= longest:
            break
        shares = (bisect_right(values, edge) / len(values) for values in ordered.values())
        rows.append(f"| {edge} | {' | '.join(f'{100 * each:.2f} %' for each in shares)} |")
    for name, share in QUANTILES.items():
        found = (quantile(values, share) for values in ordered.values())
        rows.append(f"| {name} | {' | '.join(f'{each:.0f} ms' for each in found)} |")
    return "\n".join(rows)
