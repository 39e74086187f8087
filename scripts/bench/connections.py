"""What a new connection to PostgreSQL costs before its first result, with and without types that are known.

    python -m scripts.bench.connections [--connections 40] [--repetitions 5]

Opens connections as the service does and fetches one array of numbers on each, as first queries do. The
reference is the same connection with asyncpg's own query about types, in turns. Figures are medians over the
repetitions, milliseconds a connection of wall time. Uses the PostgreSQL that the settings lead to, or starts
its own.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from statistics import median

import asyncpg
import click

from app import settings as configuration
from app.store import connections
from scripts import services
from scripts.lab.own_data import database

_FIRST = "SELECT $1::bigint[]"


class _Querying(connections._Session):
    """The service's connection with the driver's own behaviour: it queries types on each."""

    _introspect_types = asyncpg.Connection._introspect_types


async def _each(url: str, kind: type[asyncpg.Connection], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        connection = await asyncpg.connect(url, connection_class=kind)
        await connection.fetchval(_FIRST, [1, 2])
        await connection.close()
    return (time.perf_counter() - began) / count * 1000


async def _measure(url: str, count: int, repetitions: int) -> None:
    ways: dict[str, Callable[[], Awaitable[float]]] = {
        "queried on each connection": lambda: _each(url, _Querying, count),
        "known in the process": lambda: _each(url, connections._Session, count),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repetitions):
        for name, way in ways.items():
            found[name].append(await way())
    reference = median(found["queried on each connection"])
    for name, values in found.items():
        print(f"{name:26} {median(values):6.2f} ms  {median(values) / reference:5.2f}")


async def _with_own_database(count: int, repetitions: int) -> None:
    async with database(configuration.load()) as own:
        await _measure(own.database_url, count, repetitions)


@click.command()
@click.option("--connections", "count", default=40, help="How many a turn.")
@click.option("--repetitions", default=5, help="How many turns each.")
def main(count: int, repetitions: int) -> None:
    """What a new connection costs before its first result."""
    with services.running(services.BENCHMARKS):
        asyncio.run(_with_own_database(count, repetitions))


if __name__ == "__main__":
    main()
