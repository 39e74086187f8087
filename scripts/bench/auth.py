"""What keys, scopes and rates cost: whoami with a key against a bare hello, on the same server.

    python -m scripts.bench.auth [--seconds 0.25] [--repetitions 60] [--connections 32]

One server process answers both, the service on one port and a Litestar application of one handler on another;
they are measured in short turns, in the same run. Figures are medians. Fails when whoami reaches less than 80
% of hello. Uses the servers that the settings lead to, or starts its own (`scripts/services.py`); works in a
database of its own, which it removes.
"""

import statistics
import time
from collections.abc import Mapping

import click
import msgspec
import uvloop
from litestar import Litestar, get

from app import settings as configuration
from app.access.api_keys import KeyProperties
from app.kit import logging
from app.main import create_app
from app.settings import Settings
from app.store.connections import open_store
from scripts import services
from scripts.bench.load import Load
from scripts.bench.processors import processor_seconds
from scripts.bench.server_process import PortQueue, run_servers, server_process
from scripts.lab.own_data import database, issue_key

PROMISE = 0.8


class Greeting(msgspec.Struct, frozen=True):
    hello: str


@get("/hello")
async def hello() -> Greeting:
    return Greeting("world")


async def key(settings: Settings, bundle: str) -> str:
    """A key with the highest rate."""
    properties = KeyProperties(bundles=(bundle,), rate_limit_rpm=1_000_000)
    async with await open_store(settings.database_url, 1) as store:
        return await issue_key(store, settings, properties)


def serve(settings: Settings, ports: PortQueue) -> None:
    """Both applications in this process, on free ports."""
    logging.configure("bench", level="ERROR")
    bare = Litestar([hello], openapi_config=None, logging_config=None)
    uvloop.run(run_servers((create_app(settings), bare), ports))


class Figure(msgspec.Struct, frozen=True):
    """Requests a second, and microseconds of the server's processor for each."""

    rate: float
    cpu: float


async def figure(load: Load, server: int, seconds: float) -> Figure:
    used = processor_seconds(server)
    begun = time.perf_counter()
    rate = await load.rate(seconds)
    lasted = time.perf_counter() - begun
    return Figure(rate, (processor_seconds(server) - used) / (rate * lasted) * 1e6)


Seen = dict[str, list[Figure]]


async def in_turn(loads: Mapping[str, Load], server: int, seconds: float, repetitions: int) -> Seen:
    """Measure everything in turn, as often as wanted, after a warm-up."""
    seen: Seen = {name: [] for name in loads}
    for load in loads.values():
        await load.open()
        await load.rate(min(seconds, 1))
        load.forget()
    for _ in range(repetitions):
        for name, load in loads.items():
            seen[name].append(await figure(load, server, seconds))
    for load in loads.values():
        load.close()
    return seen


def share_of(bare: list[Figure], ours: list[Figure]) -> tuple[float, str]:
    """Our rate as a share of the bare one, and that in words; ratios are computed within each round."""
    pairs = list(zip(bare, ours, strict=True))
    shares = [one.rate / reference.rate for reference, one in pairs]
    worth = statistics.median(reference.cpu / one.cpu for reference, one in pairs)
    share = statistics.median(shares)
    return share, (
        f"{share:.2f} of its rate (median of {len(shares)}, {min(shares):.2f} to {max(shares):.2f}), "
        f"{worth:.2f} by processor time"
    )


async def compare(hello: Load, whoami: Load, server: int, seconds: float, repetitions: int) -> float:
    """Print the medians; whoami's rate as a share of hello's."""
    seen = await in_turn({"hello": hello, "whoami": whoami}, server, seconds, repetitions)
    for name, figures in seen.items():
        rate, cpu = (statistics.median(getattr(each, kind) for each in figures) for kind in ("rate", "cpu"))
        print(f"{name:8} {rate:8.0f} req/s {cpu:6.0f} us of the server's processor each")
    share, words = share_of(seen["hello"], seen["whoami"])
    print(f"whoami, to hello: {words}")
    return share


async def measure(seconds: float, repetitions: int, connections: int) -> float:
    async with database(configuration.load()) as settings:
        raw = await key(settings, "cs2.stats")
        async with server_process(serve, settings) as (process, ports):
            whoami = Load(ports[0], "/v1/whoami", {"X-API-Key": raw}, connections)
            bare = Load(ports[1], "/hello", {}, connections)
            return await compare(bare, whoami, process, seconds, repetitions)


@click.command()
@click.option("--seconds", default=0.25, show_default=True, help="How long each is measured at a time.")
@click.option("--repetitions", default=60, show_default=True)
@click.option("--connections", default=32, show_default=True)
def main(seconds: float, repetitions: int, connections: int) -> None:
    with services.running(services.BENCHMARKS):
        share = uvloop.run(measure(seconds, repetitions, connections))
    if share < PROMISE:
        raise SystemExit(f"whoami reaches {share:.2f} of hello, {PROMISE} is promised")


if __name__ == "__main__":
    main()
