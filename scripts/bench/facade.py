"""What the facade's large documents cost: cached ones against the same bytes served as a constant.

    python -m scripts.bench.facade [--seconds 1] [--repetitions 9] [--connections 16] [--events 1000]

One server process answers both: the service on one port (a key, its rate, its rights, the version of the
list), and on another a Litestar application whose only handler returns bytes that it holds in memory. They
are requested in turn, in the same run, for the market catalogue and for a page of the schedule; figures are
medians. Fails when one of them reaches less than 60 % of the constant. Uses the
servers that the settings lead to, or starts its own; works in a database of its own, which it removes.
"""

import asyncio
import statistics
import tempfile
from functools import cache
from pathlib import Path
from uuid import uuid4

import click
import httpx
import uvloop
from litestar import Litestar, MediaType, Response, get
from litestar.params import FromPath

from app import settings as configuration
from app.domain.entrants import Competitor, Tournament
from app.domain.match import Match
from app.kit import logging
from app.main import create_app
from app.settings import Settings
from app.store import entrants, matches
from app.store.connections import open_store
from scripts import services
from scripts.bench.auth import in_turn, key, share_of
from scripts.bench.load import Load
from scripts.bench.server_process import PortQueue, run_servers, server_process
from scripts.lab.own_data import database

PROMISE = 0.6
PAGES = {
    "market_descriptions": "/v1/descriptions/en/markets",
    "schedule": "/v1/sports/en/schedules/pre/schedule",
}
_TEAMS = 64
_APRIL_2031 = 1_932_912_000_000


async def create_world(settings: Settings, events: int) -> None:
    """Matches to come, between teams of some tournaments."""
    teams = [Competitor(number, f"Team number {number}", f"T{number}") for number in range(1, _TEAMS + 1)]
    async with await open_store(settings.database_url, 1) as store, store.transaction() as tx:
        await entrants.put(tx, entrants.TEAMS, teams)
        await entrants.put(tx, entrants.TOURNAMENTS, [Tournament(1, "Northern Cup", "NC", 2)])
        for number in range(1, events + 1):
            home, away = teams[number % _TEAMS], teams[(number * 7 + 1) % _TEAMS]
            match = Match(
                id=uuid4(),
                number=number,
                home=home.name,
                away=away.name,
                event="Northern Cup",
                best_of=3,
                scheduled_at=_APRIL_2031 + number * 60_000,
                home_id=home.id,
                away_id=away.id,
                tournament_id=1,
            )
            await matches.insert(tx, match)


def constants(folder: str) -> Litestar:
    """An application that answers the files of `folder`, read once."""

    @cache
    def bytes_of(name: str) -> bytes:
        return (Path(folder) / name).read_bytes()

    @get("/{name:str}")
    async def constant(name: FromPath[str]) -> Response[bytes]:
        return Response(bytes_of(name), media_type=MediaType.XML)

    return Litestar([constant], openapi_config=None, logging_config=None)


def serve(settings: Settings, folder: str, ports: PortQueue) -> None:
    """The service and the constants in this process, on free ports."""
    logging.configure("bench", level="ERROR")
    uvloop.run(run_servers((create_app(settings), constants(folder)), ports))


def fetch(port: int, path: str, headers: dict[str, str], place: Path) -> int:
    """Store the service's response as the constant to compare with; its size."""
    plain = headers | {"Accept-Encoding": "identity"}
    response = httpx.get(f"http://127.0.0.1:{port}{path}", headers=plain, timeout=30)
    response.raise_for_status()
    return place.write_bytes(response.content)


async def compare(
    name: str, size: int, ours: Load, bare: Load, process: int, times: tuple[float, int]
) -> float:
    """Print the medians of both; our rate as a share of the constant's."""
    seen = await in_turn({"constant": bare, "cached": ours}, process, *times)
    constant, cached = (statistics.median(one.rate for one in figures) for figures in seen.values())
    share, words = share_of(seen["constant"], seen["cached"])
    print(f"{name}, {size:,} bytes: {cached:.0f} req/s, the constant {constant:.0f}; {words}")
    return share


async def measure(seconds: float, repetitions: int, connections: int, events: int) -> dict[str, float]:
    shares = {}
    async with database(configuration.load()) as settings:
        await create_world(settings, events)
        headers = {"X-API-Key": await key(settings, "cs2.stats")}
        with tempfile.TemporaryDirectory() as folder:
            async with server_process(serve, settings, folder) as (process, ports):
                for name, path in PAGES.items():
                    size = await asyncio.to_thread(fetch, ports[0], path, headers, Path(folder) / name)
                    ours = Load(ports[0], path, headers, connections)
                    bare = Load(ports[1], f"/{name}", {}, connections)
                    shares[name] = await compare(name, size, ours, bare, process, (seconds, repetitions))
    return shares


@click.command()
@click.option("--seconds", default=1.0, show_default=True, help="How long each is measured at a time.")
@click.option("--repetitions", default=9, show_default=True)
@click.option("--connections", default=16, show_default=True)
@click.option("--events", default=1000, show_default=True, help="Matches on the page of the schedule.")
def main(seconds: float, repetitions: int, connections: int, events: int) -> None:
    with services.running(services.BENCHMARKS):
        shares = uvloop.run(measure(seconds, repetitions, connections, events))
    below = [f"{name} {share:.2f}" for name, share in shares.items() if share < PROMISE]
    if below:
        raise SystemExit(f"below {PROMISE} of a constant: {', '.join(below)}")


if __name__ == "__main__":
    main()
