"""What clients and matches cost the stream, as a picture."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib import pyplot

from scripts.svg import save

Points = Sequence[tuple[int, float]]


def draw(by_clients: Points, by_matches: Points, path: Path) -> None:
    """Left: microseconds a client and tick, by clients. Right: milliseconds a tick, by matches."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.0, 3.6))
    left.plot([each for each, _ in by_clients], [cost for _, cost in by_clients], marker="o")
    left.set(xlabel="clients (20 matches)", ylabel="processor a client and tick, us", xlim=0, ylim=0)
    right.plot([each for each, _ in by_matches], [cost / 1000 for _, cost in by_matches], marker="o")
    right.set(xlabel="matches (250 clients)", ylabel="processor a tick, ms", xlim=0, ylim=0)
    for axes in (left, right):
        axes.grid(visible=True, alpha=0.3)
    save(figure, path)
