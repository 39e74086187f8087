"""What REST costs: matches from the cache, from the database, and with FastAPI, SQLAlchemy and xsdata.

    python -m scripts.bench.rest [--seconds 0.3] [--repetitions 21] [--connections 16] [--check]

One server process (one uvicorn worker) answers everything, each application on a port of its own: a bare
Litestar hello; the service; the service again, without its cache; the reference of `rest_reference`. They
receive requests in turn, in one run; figures are medians, ratios are computed within each round. The match
is live and has 30 rounds and 40 markets. Clients accept gzip; the reference does not compress.

`--check` fails when a rate is a smaller share of another's than `PROMISED`.
Uses the servers that the settings lead to, or starts its own (`scripts/services.py`); works in a database of
its own, which it removes.
"""

import statistics
import tempfile
from pathlib import Path
from typing import NamedTuple

import click
import msgspec
import uvloop
from litestar import Litestar

from app import settings as configuration
from app.kit import logging
from app.main import create_app
from app.settings import Settings
from scripts import services
from scripts.bench import rest_matches, xml_subjects
from scripts.bench.auth import Seen, hello, in_turn, key
from scripts.bench.load import Load
from scripts.bench.rest_reference import application
from scripts.bench.server_process import PortQueue, run_servers, server_process
from scripts.lab.own_data import database

#: What a rate is at least, as a share of another.
PROMISED = {
    ("match, cached", "hello"): 0.75,
    ("50 matches, cached", "hello"): 0.7,
    ("match, cached", "match, reference"): 40.0,
    ("match, not cached", "match, reference"): 2.5,
}
_REPORT = "{:34} {:>7.0f} req/s {:>6.0f} us {:>7.1f} ms p99   {}"


class Ports(NamedTuple):
    """Where each application is."""

    hello: int
    cached: int
    uncached: int
    reference: int


class Case(NamedTuple):
    """A request: its name, to which application, path, and format."""

    name: str
    port: str
    path: str
    accept: str = "application/json"


def cases(match_id: str) -> list[Case]:
    match, listing = f"/cs2/v1/matches/{match_id}", "/cs2/v1/matches?status=upcoming&limit=50"
    xml = "application/xml"
    return [
        Case("hello", "hello", "/hello"),
        Case("match, cached", "cached", match),
        Case("match, not cached", "uncached", match),
        Case("match, reference", "reference", f"/matches/{match_id}"),
        Case("50 matches, cached", "cached", listing),
        Case("50 matches, not cached", "uncached", listing),
        Case("50 matches, reference", "reference", "/matches?limit=50"),
        Case("markets as XML, cached", "cached", f"{match}/markets", xml),
        Case("markets as XML, not cached", "uncached", f"{match}/markets", xml),
        Case("markets as XML, reference", "reference", f"/matches/{match_id}/markets", xml),
    ]


def serve(settings: Settings, ports: PortQueue) -> None:
    """All applications in this process, on free ports."""
    logging.configure("bench", level="ERROR")
    with tempfile.TemporaryDirectory() as directory:
        apps = (
            Litestar([hello], openapi_config=None, logging_config=None),
            create_app(settings),
            create_app(msgspec.structs.replace(settings, response_cache_bytes=0)),
            application(settings.database_url, settings.secret_key, xml_subjects.reference(Path(directory))),
        )
        # Each waits while the others are measured.
        uvloop.run(run_servers(apps, ports, timeout_keep_alive=3600))


def ratio(seen: Seen, name: str, of: str, kind: str = "rate") -> float:
    """The median of the ratios within each round; more is better for `name`."""
    pairs = zip(seen[name], seen[of], strict=True)
    if kind == "cpu":
        return statistics.median(other.cpu / one.cpu for one, other in pairs)
    return statistics.median(one.rate / other.rate for one, other in pairs)


def report(seen: Seen, loads: dict[str, Load]) -> None:
    for name, figures in seen.items():
        rate, cpu = (statistics.median(getattr(one, kind) for one in figures) for kind in ("rate", "cpu"))
        against = (
            f"{ratio(seen, name, 'hello'):.2f} of hello, {ratio(seen, name, 'hello', 'cpu'):.2f} by processor"
        )
        subject = name.partition(",")[0]
        rival = f"{subject}, reference"
        if rival in seen and rival != name:
            against += f"; {ratio(seen, name, rival):.1f}x reference"
        print(_REPORT.format(name, rate, cpu, loads[name].percentile(0.99) * 1000, against))


async def measure(seconds: float, repetitions: int, connections: int) -> Seen:
    async with database(configuration.load()) as settings:
        raw = await key(settings, "cs2.odds.basic")
        match_id = await rest_matches.write(settings.database_url)
        async with server_process(serve, settings) as (process, found):
            ports = Ports(*found)
            asking = {"X-API-Key": raw, "Accept-Encoding": "gzip"}
            loads = {
                case.name: Load(
                    getattr(ports, case.port), case.path, asking | {"Accept": case.accept}, connections
                )
                for case in cases(match_id)
            }
            seen = await in_turn(loads, process, seconds, repetitions)
            report(seen, loads)
            return seen


@click.command()
@click.option("--seconds", default=0.3, show_default=True, help="How long each is measured at a time.")
@click.option("--repetitions", default=21, show_default=True)
@click.option("--connections", default=16, show_default=True)
@click.option("--check", is_flag=True, help="Fail when a goal is missed.")
def main(seconds: float, repetitions: int, connections: int, check: bool) -> None:
    with services.running(services.BENCHMARKS):
        seen = uvloop.run(measure(seconds, repetitions, connections))
    shares = {pair: ratio(seen, *pair) for pair in PROMISED}
    missed = [
        f"{one} reaches {share:.2f} of {other}"
        for (one, other), share in shares.items()
        if share < PROMISED[one, other]
    ]
    if check and missed:
        raise SystemExit("; ".join(missed))


if __name__ == "__main__":
    main()
