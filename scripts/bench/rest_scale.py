"""Whether REST costs the same however much is stored: from 1,000 to 200,000 matches, 25 timeline rows each.

    python -m scripts.bench.rest_scale [--sizes 1000,10000,50000,200000] [--plot FILE] [--check]

The matches are loaded by COPY, each size into a database with a server process of its own. Then all sizes
take turns, on one connection each: a bare hello, a cached body, the match over a thousand matches spread over
the table, the first page of the list, a page from its middle, and live markets as XML. What counts is the
time within which the quickest tenth of the answers came, which other work on the machine spoils least,
against the same at the smallest size. `--check` fails when one has grown by more than 20 %. Needs some GB of
disk for a while.
"""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import click
import uvloop
from matplotlib import pyplot

from app import settings as configuration
from scripts import services
from scripts.bench import rest_stock
from scripts.bench.auth import in_turn, key
from scripts.bench.load import Load
from scripts.bench.rest import Ports, serve
from scripts.bench.server_process import server_process
from scripts.lab.own_data import database
from scripts.svg import save

SLACK = 0.2
_SAMPLE = 1000


class Point(NamedTuple):
    """At `size` matches: milliseconds of the quickest tenth, by request."""

    size: int
    millis: dict[str, float]


def loads(ports: Ports, raw: str, size: int, connections: int) -> dict[str, Load]:
    headers = {"X-API-Key": raw, "Accept-Encoding": "gzip", "Accept": "application/json"}
    # Matches repeat every hundred numbers: at each size one in a hundred requested ones is live.
    spread = [size * place // _SAMPLE // 100 * 100 + place % 100 for place in range(_SAMPLE)]
    matches = [f"/cs2/v1/matches/{rest_stock.match_id(number)}" for number in spread]
    live = [f"/cs2/v1/matches/{rest_stock.match_id(number // 100 * 100)}/markets" for number in spread]
    listing = "/cs2/v1/matches?status=finished&limit=50"
    middle = rest_stock.begins(size // 2)
    xml = headers | {"Accept": "application/xml"}
    return {
        "hello": Load(ports.hello, "/hello", {}, connections),
        "match, cached": Load(ports.cached, matches[:100], headers, connections),
        "match": Load(ports.uncached, matches, headers, connections),
        "first page of 50": Load(ports.uncached, listing, headers, connections),
        "page in the middle": Load(
            ports.uncached, f"{listing}&cursor=finished.{middle}.1", headers, connections
        ),
        "markets as XML": Load(ports.uncached, live, xml, connections),
    }


@asynccontextmanager
async def standing(size: int) -> AsyncIterator[tuple[Ports, str]]:
    """A database with so many matches and a server of its own; where it listens, and a key."""
    async with database(configuration.load()) as settings:
        raw = await key(settings, "cs2.odds.basic")
        await rest_stock.load(settings.database_url, range(size))
        async with server_process(serve, settings) as (_, ports):
            yield Ports(*ports), raw


async def measure(sizes: list[int], seconds: float, repetitions: int, connections: int) -> list[Point]:
    async with AsyncExitStack() as stack:
        by_size: dict[int, dict[str, Load]] = {}
        for size in sizes:
            found, raw = await stack.enter_async_context(standing(size))
            by_size[size] = loads(found, raw, size, connections)
            print(f"{size} matches are there", flush=True)
        # Side by side: whatever else the machine does meanwhile slows all sizes alike.
        turns = {f"{name}, {size}": by_size[size][name] for name in by_size[sizes[0]] for size in sizes}
        await in_turn(turns, os.getpid(), seconds, repetitions)
        return [
            Point(size, {name: load.percentile(0.1) * 1000 for name, load in by_size[size].items()})
            for size in sizes
        ]


def drifts(points: list[Point]) -> dict[str, float]:
    """By request, its time at the last size against that at the first."""
    return {name: points[-1].millis[name] / millis for name, millis in points[0].millis.items()}


def show(points: list[Point]) -> None:
    for point in points:
        for name, millis in point.millis.items():
            figures = (
                f"{millis:>7.2f} ms, {millis / points[0].millis[name]:.2f} of the same at {points[0].size}"
            )
            print(f"{point.size:>8} matches  {name:20} {figures}")


def draw(points: list[Point], path: Path) -> None:
    """A line for each request: milliseconds by stored matches; both axes by tens."""
    figure, axes = pyplot.subplots(figsize=(7.2, 4.2))
    sizes = [point.size for point in points]
    for name in points[0].millis:
        axes.plot(sizes, [point.millis[name] for point in points], marker="o", markersize=3, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("stored matches (25 timeline rows each)")
    axes.set_ylabel("ms an answer (the quickest tenth)")
    axes.legend(fontsize=7, ncols=2)
    axes.grid(linewidth=0.3, alpha=1)
    save(figure, path)


@click.command()
@click.option("--sizes", default="1000,10000,50000,200000", show_default=True)
@click.option("--seconds", default=0.5, show_default=True)
@click.option("--repetitions", default=9, show_default=True)
@click.option("--connections", default=1, show_default=True)
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the curve here.")
@click.option("--check", is_flag=True, help="Fail when it is not flat.")
def main(
    sizes: str, seconds: float, repetitions: int, connections: int, plot: Path | None, check: bool
) -> None:
    counts = [int(one) for one in sizes.split(",")]
    with services.running(services.BENCHMARKS):
        points = uvloop.run(measure(counts, seconds, repetitions, connections))
    show(points)
    if plot:
        draw(points, plot)
    off = {name: round(drift, 2) for name, drift in drifts(points).items() if drift > 1 + SLACK}
    if check and off:
        raise SystemExit(f"not flat: {off}")


if __name__ == "__main__":
    main()
