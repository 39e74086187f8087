"""What a client's self-check costs: one digest of 20,000 open markets, answered over HTTP.

    python -m scripts.bench.selfcheck [--markets 20000] [--matches 200] [--repetitions 15]

The same book is also read the way a client had to before, with one GET of the markets of each match, and by
a bare SELECT of the same rows; the three take turns in one run, against one server process. Figures are
medians. Fails when a digest of 20,000 takes more than 200 ms. Uses the servers that the settings lead to, or
starts its own (`scripts/services.py`); works in a database of its own, which it removes.
"""

import statistics
import time
from collections.abc import Awaitable, Callable
from decimal import Decimal
from uuid import uuid4

import asyncpg
import click
import httpx
import msgspec
import uvloop

from app import settings as configuration
from app.domain.ids import match_urn
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Status
from app.kit import logging
from app.main import create_app
from app.settings import Settings
from app.store import markets, matches
from app.store.connections import open_store
from scripts import http_client, services
from scripts.bench.auth import key
from scripts.bench.processors import processor_seconds
from scripts.bench.server_process import PortQueue, run_servers, server_process
from scripts.lab.own_data import database

PROMISE_MILLIS, PROMISED_MARKETS = 200.0, 20_000
_SELECT = "SELECT match_id, type_id, specifiers, status, odds FROM market WHERE status IN (1, -1)"
PROCESSOR = "of the processor"
Request = Callable[[], Awaitable[None]]


def serve(settings: Settings, ports: PortQueue) -> None:
    """The service in this process, on a free port."""
    logging.configure("bench", level="ERROR")
    uvloop.run(run_servers((create_app(settings),), ports))


def offers(count: int) -> list[Market]:
    """One in five suspended."""
    return [
        Market(
            13,
            f"map=1|round={number}|team=home",
            MarketStatus.ACTIVE if number % 5 else MarketStatus.SUSPENDED,
            Decimal(1100 + number) / 1000,
            0.5,
        )
        for number in range(1, count + 1)
    ]


async def fill(settings: Settings, count: int, each: int) -> tuple[str, list[int]]:
    """`count` live matches with `each` open markets; a bookmaker's key, and the matches' numbers."""
    raw = await key(settings, "cs2.odds.basic")
    async with await open_store(settings.database_url, 1) as store, store.transaction() as tx:
        numbers = []
        for _ in range(count):
            numbers.append(await matches.next_number(tx))
            match = Match(uuid4(), numbers[-1], "Northwind", "Harbour", "Bench", status=Status.LIVE)
            await matches.insert(tx, match)
            await tx.write(markets.save_statements(match.id, offers(each)))
    return raw, numbers


def digest(numbers: list[int], each: int) -> bytes:
    """The whole book as a client would send it."""
    rows = [
        [market.type_id, market.specifiers, int(market.status), float(market.odds)] for market in offers(each)
    ]
    return msgspec.json.encode(
        {"matches": [{"match": match_urn(number), "markets": rows} for number in numbers]}
    )


async def millis(request: Request) -> float:
    begun = time.perf_counter()
    await request()
    return (time.perf_counter() - begun) * 1000


async def compare(
    client: httpx.AsyncClient,
    connection: asyncpg.Connection,
    body: bytes,
    numbers: list[int],
    repetitions: int,
    server: int,
) -> dict[str, float]:
    """Medians in ms of the three ways, which take turns, and what a check takes of the server's processor."""

    async def check() -> None:
        answer = await client.post("/cs2/v1/selfcheck", content=body)
        assert answer.json()["data"]["count"] == 0, answer.text[:500]

    async def read_each() -> None:
        for number in numbers:
            (await client.get(f"/cs2/v1/matches/{match_urn(number)}/markets")).raise_for_status()

    async def select() -> None:
        await connection.fetch(_SELECT)

    ways: dict[str, Request] = {"selfcheck": check, "a GET for each match": read_each, "bare SELECT": select}
    seen: dict[str, list[float]] = {name: [] for name in (*ways, PROCESSOR)}
    for _ in range(repetitions + 1):
        for name, request in ways.items():
            used = processor_seconds(server)
            seen[name].append(await millis(request))
            if request is check:
                seen[PROCESSOR].append((processor_seconds(server) - used) * 1000)
    return {name: statistics.median(figures[1:]) for name, figures in seen.items()}


async def measure(count: int, each: int, repetitions: int) -> dict[str, float]:
    async with database(configuration.load()) as settings:
        key, numbers = await fill(settings, count, each)
        connection = await asyncpg.connect(settings.database_url)
        try:
            async with (
                server_process(serve, settings) as (process, (port,)),
                http_client.client(f"http://127.0.0.1:{port}", key) as client,
            ):
                client.headers["Content-Type"] = "application/json"
                body = digest(numbers, each)
                return await compare(client, connection, body, numbers, repetitions, process)
        finally:
            await connection.close()


@click.command()
@click.option("--markets", "total", default=20_000, show_default=True)
@click.option("--matches", "count", default=200, show_default=True)
@click.option("--repetitions", default=15, show_default=True)
def main(total: int, count: int, repetitions: int) -> None:
    with services.running(services.BENCHMARKS):
        figures = uvloop.run(measure(count, total // count, repetitions))
    ours = figures["selfcheck"]
    for name, figure in figures.items():
        print(f"{name:22} {figure:8.1f} ms   x {figure / ours:5.2f}")
    print(f"{total} markets of {count} matches, medians of {repetitions}")
    if total == PROMISED_MARKETS and ours > PROMISE_MILLIS:
        raise SystemExit(f"a digest of {total} takes {ours:.0f} ms, {PROMISE_MILLIS:.0f} are promised")


if __name__ == "__main__":
    main()
