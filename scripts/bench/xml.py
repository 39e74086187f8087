"""What an odds_change costs to encode: ours against xsdata, lxml and msgspec's JSON.

    python -m scripts.bench.xml [--markets 20] [--repetitions 31] [--plot docs/xml-encode-cost.svg]

All contenders encode the same object, interleaved in one process; figures are medians over the repetitions.
`--check` fails when a ratio is below what `docs/performance.md` promises.
"""

import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
from matplotlib import pyplot

from scripts.bench.xml_subjects import CACHED, JSON, LXML, OURS, XSDATA, subjects
from scripts.svg import save

_SLICE_NS = 2_000_000
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def microseconds(contenders: dict[str, Callable[[], bytes]], repetitions: int) -> dict[str, float]:
    """The median cost of one call, each contender having a slice of about 2 ms in every repetition."""
    loops = {name: max(1, _SLICE_NS // _once(call)) for name, call in contenders.items()}
    seen: dict[str, list[float]] = {name: [] for name in contenders}
    gc.disable()
    for _ in range(repetitions):
        for name, call in contenders.items():
            started = time.perf_counter_ns()
            for _ in range(loops[name]):
                call()
            seen[name].append((time.perf_counter_ns() - started) / loops[name] / 1000)
        gc.collect()
    gc.enable()
    return {name: statistics.median(values) for name, values in seen.items()}


def _once(call: Callable[[], bytes]) -> int:
    call()
    started = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - started


def table(costs: dict[str, float]) -> str:
    """Markdown: cost and how many times faster than xsdata, lxml and JSON."""
    lines = ["| encode | us | x xsdata | x lxml | x JSON |", "|---|---|---|---|---|"]
    for name, cost in costs.items():
        ratios = " | ".join(f"{costs[other] / cost:.2f}" for other in (XSDATA, LXML, JSON))
        lines.append(f"| {name} | {cost:.1f} | {ratios} |")
    return "\n".join(lines)


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
    whole.legend()
    save(figure, path)


def shortfalls(costs: dict[str, float]) -> list[str]:
    """The promises that these figures break."""
    promises = {
        "40x xsdata": costs[XSDATA] / costs[OURS] >= 40,
        "5x lxml": costs[LXML] / costs[OURS] >= 5,
        "within 6x of JSON": costs[OURS] / costs[JSON] <= 6,
        "with cached fragments faster than JSON": costs[CACHED] < costs[JSON],
    }
    return [promise for promise, met in promises.items() if not met]


@click.command()
@click.option("--markets", default=20)
@click.option("--repetitions", default=31)
@click.option(
    "--plot", type=click.Path(path_type=Path), help="Also measure 1 to 1,000 markets and draw them."
)
@click.option("--check", is_flag=True, help="Fail when a promise is broken.")
def main(markets: int, repetitions: int, plot: Path | None, check: bool) -> None:
    """Measure, print a table, and draw the cost by size on request."""
    with tempfile.TemporaryDirectory() as directory:
        costs = microseconds(subjects(markets, Path(directory)), repetitions)
        click.echo(table(costs))
        if plot:
            wanted = (OURS, CACHED, JSON, LXML)
            by_size = {
                size: microseconds(
                    {name: call for name, call in subjects(size, Path(directory)).items() if name in wanted},
                    max(5, repetitions // 3),
                )
                for size in _SIZES
            }
            draw(by_size, plot)
    broken = shortfalls(costs) if check else []
    for promise in broken:
        click.echo(f"missed: {promise}", err=True)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
