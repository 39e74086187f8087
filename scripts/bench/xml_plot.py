"""Encode cost against the number of markets, as a picture."""

from pathlib import Path

from matplotlib import pyplot

from scripts.svg import save


def draw(by_size: dict[int, dict[str, float]], path: Path) -> None:
    """Two panels, one line a contender: the whole document, and the same divided by its markets."""
    figure, (whole, each) = pyplot.subplots(1, 2, figsize=(9.6, 4))
    sizes = sorted(by_size)
    for name in by_size[sizes[0]]:
        costs = [by_size[size][name] for size in sizes]
        whole.plot(sizes, costs, marker="o", markersize=3, label=name)
        per_market = [cost / size for cost, size in zip(costs, sizes, strict=True)]
        each.plot(sizes, per_market, marker="o", markersize=3)
    whole.set(xlabel="markets in one odds_change", ylabel="microseconds to encode", ylim=(0, None))
    each.set(xlabel="markets in one odds_change", ylabel="microseconds a market", xscale="log", yscale="log")
    for axes in (whole, each):
        axes.grid(visible=True, alpha=0.3)
    whole.legend()
    save(figure, path)
