"""How far one broker goes: start-up, fail-over and memory with the vhosts of 50, 200 and 500 tenants.

    python -m scripts.bench.vhosts [--tenants 50 200 500] [--repetitions 3] [--plot docs/vhosts.svg]

A broker of three nodes of its own, on addresses of loopback, and one feed process; tenants and vhosts as the
product provisions them, a client for each, changes of a match at intervals. At each size, in each repetition:

- all nodes are started at once after a kill -9 of all; until each answers for the last vhost;
- feed and clients are started; until every client receives what is published now;
- a node is killed (-9); until every client receives again what was committed after that;
- the node is started again; until it answers for the last vhost.

Figures are medians of the repetitions, with the ratio to the first size. The database is that of the
settings, or one that is started for this (`scripts/services.py`).
"""

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
from matplotlib import pyplot

from app import settings as configuration
from app.broker.address import Address
from app.settings import Settings
from app.store.connections import Store, open_store
from scripts import services
from scripts.bench.vhosts_rig import Changes, Client, Cluster, clients, cluster, feed, provision, serving
from scripts.lab.hosts import BROKERS
from scripts.lab.own_data import database
from scripts.local_services.postgresql import value
from scripts.svg import save

_EVERY_SECONDS = 0.5
_PATIENCE_SECONDS = 600.0
_MIB = 1024 * 1024
#: What is measured, and its unit.
UNITS = {
    "provisioned": "s a tenant",
    "all nodes started": "s",
    "feed serves all": "s",
    "fail-over, median client": "s",
    "fail-over, last client": "s",
    "node started again": "s",
    "broker, vhosts alone": "MiB",
    "broker, with connections": "MiB",
    "feed": "MiB",
    "database connections": "",
}

#: What the picture shows.
_SECONDS = (
    "all nodes started",
    "node started again",
    "feed serves all",
    "fail-over, median client",
    "fail-over, last client",
)
_MEMORY = ("broker, vhosts alone", "broker, with connections", "feed")
Figures = dict[str, list[float]]  #: by what is measured, one value a repetition


async def timed(step: Awaitable[object]) -> float:
    began = time.monotonic()
    async with asyncio.timeout(_PATIENCE_SECONDS):
        await step
    return time.monotonic() - began


async def reached(ready: Callable[[], bool]) -> None:
    while not ready():
        await asyncio.sleep(0.02)


class Bench:
    """The cluster with all tenants so far."""

    def __init__(self, made: Cluster, settings: Settings, store: Store) -> None:
        self._cluster, self._settings, self._store = made, settings, store
        self._tenants: dict[str, Address] = {}

    async def grow(self, count: int) -> float:
        """Provision tenants until there are so many; seconds for each."""
        new = count - len(self._tenants)
        began = time.monotonic()
        self._tenants |= await provision(self._settings, self._store, new)
        return (time.monotonic() - began) / new

    async def repeat(self, number: int, changes: Changes, figures: Figures) -> None:
        """One repetition, in which the killed node is another each time."""
        self._cluster.kill()
        figures["all nodes started"].append(await timed(self._started(BROKERS)))
        figures["broker, vhosts alone"].append(self._cluster.resident() / _MIB)
        async with clients(self._tenants, self._settings.exchange) as found, feed(self._settings) as process:
            figures["feed serves all"].append(await timed(self._receive(found, changes)))
            await asyncio.sleep(5 * _EVERY_SECONDS)  # the first burst of connections is over
            figures["broker, with connections"].append(self._cluster.resident() / _MIB)
            figures["feed"].append(process.memory_info().rss / _MIB)
            figures["database connections"].append(await self._connections())
            host = BROKERS[-1 - number % len(BROKERS)]
            median, last = await self._failed_over(host, found, changes)
            figures["fail-over, median client"].append(median)
            figures["fail-over, last client"].append(last)
            figures["node started again"].append(await timed(self._started([host])))

    async def start(self) -> None:
        """Start the nodes for the first time."""
        await self._started(BROKERS, "/")

    async def _started(self, hosts: Sequence[str], vhost: str = "") -> None:
        self._cluster.begin(hosts)
        last = vhost or list(self._tenants)[-1]
        addresses = [self._cluster.address(host) for host in hosts]
        await asyncio.gather(*(serving(self._settings, address, last) for address in addresses))

    async def _receive(self, found: Sequence[Client], changes: Changes) -> None:
        """Until each client has received something that is committed from now on."""
        since = changes.committed
        await reached(lambda: all(each.receiver.seq > since for each in found))

    async def _failed_over(self, host: str, found: Sequence[Client], changes: Changes) -> tuple[float, float]:
        """Seconds from the kill until a client received what was committed after it: the median of those that
        were connected to the node, and the last of all."""
        address = self._cluster.address(host)
        there = [each for each in found if each.node and each.node.host == address]
        began = time.monotonic()
        self._cluster.kill([host])
        since, waiting = changes.committed, set(found)
        after: dict[Client, float] = {}
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while waiting:
                now = time.monotonic() - began
                healed = {each for each in waiting if each.receiver.seq > since}
                after |= dict.fromkeys(healed, now)
                waiting -= healed
                await asyncio.sleep(0.02)
        return statistics.median(after[each] for each in there), max(after.values())

    async def _connections(self) -> int:
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name LIKE 'matchfeed%'"
        )
        return int(await value(self._settings.database_url, query))


async def measure(
    sizes: Sequence[int], repetitions: int, made: Cluster, measured: Callable[[dict[int, Figures]], None]
) -> None:
    """`measured` is called after each repetition, with the figures so far."""
    async with (
        database(configuration.load()) as settings,
        await open_store(settings.database_url, 2, session_name="bench") as store,
    ):
        bench = Bench(made, settings, store)
        await bench.start()
        changes = await Changes.of_new_match(store, _EVERY_SECONDS)
        task = asyncio.create_task(changes.run())
        found: dict[int, Figures] = {}
        try:
            for size in sizes:
                figures: Figures = {name: [] for name in UNITS}
                found[size] = figures
                figures["provisioned"].append(await bench.grow(size))
                for number in range(repetitions):
                    await bench.repeat(number, changes, figures)
                    load = os.getloadavg()[0]
                    print(f"{size} tenants, repetition {number + 1}: load {load:.1f}", flush=True)
                    measured(found)
        finally:
            task.cancel()


def show(found: dict[int, Figures]) -> None:
    """A row for each thing that was measured: by size its median, range and ratio to the first size."""
    first = next(iter(found.values()))
    for name, unit in UNITS.items():
        cells = []
        for size, figures in found.items():
            median = statistics.median(figures[name])
            ratio = median / statistics.median(first[name])
            extent = f"{min(figures[name]):.2f} to {max(figures[name]):.2f}"
            cells.append(f"{size}: {median:.2f} {unit} ({extent}; {ratio:.1f}x)")
        print(f"{name:28} {'  '.join(cells)}", flush=True)


def draw(found: dict[int, Figures], path: Path) -> None:
    """Two panels, seconds and MiB by tenants: medians, with the range of the repetitions."""
    figure, panels = pyplot.subplots(1, 2, figsize=(9.6, 4))
    for axes, names, label in zip(panels, (_SECONDS, _MEMORY), ("seconds", "MiB"), strict=True):
        for name in names:
            values = [figures[name] for figures in found.values()]
            medians = [statistics.median(each) for each in values]
            below = [median - min(each) for median, each in zip(medians, values, strict=True)]
            above = [max(each) - median for median, each in zip(medians, values, strict=True)]
            axes.errorbar(
                list(found), medians, [below, above], marker="o", markersize=3, capsize=2, label=name
            )
        axes.set(xlabel="tenants", ylabel=label, xlim=(0, None), ylim=(0, None))
        axes.legend(fontsize=7)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tenants", type=int, nargs="+", default=[50, 200, 500])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--save", type=Path, help="write the figures here, as JSON")
    options = parser.parse_args()

    def measured(found: dict[int, Figures]) -> None:
        show(found)
        if options.save:
            options.save.write_bytes(msgspec.json.encode(found))
        if options.plot:
            draw(found, options.plot)

    with services.running(services.BENCHMARKS), cluster() as made:
        os.environ.update(made.settings)
        asyncio.run(measure(sorted(options.tenants), options.repetitions, made, measured))


if __name__ == "__main__":
    main()
