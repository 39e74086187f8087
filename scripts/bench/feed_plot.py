"""Copies a second against the number of tenants, as a picture."""

from pathlib import Path

from matplotlib import pyplot

from scripts.svg import save


def draw(rates: dict[str, dict[int, float]], costs: dict[str, dict[int, float]], path: Path) -> None:
    """Two panels, one line a way: copies a second, and microseconds of our processor a copy, by tenants."""
    figure, (rate, cost) = pyplot.subplots(1, 2, figsize=(9.6, 4))
    for axes, values, label in (
        (rate, rates, "copies a second, confirmed"),
        (cost, costs, "microseconds of our processor a copy"),
    ):
        for way, by_tenants in values.items():
            axes.plot(list(by_tenants), list(by_tenants.values()), marker="o", markersize=3, label=way)
        axes.set(xlabel="tenants", ylabel=label, xscale="log", ylim=(0, None))
        axes.grid(visible=True, alpha=0.3)
    rate.legend()
    save(figure, path)
