"""What the signed ledger costs: ingest beside it and without it, writing leaves, verifying.

    python -m scripts.bench.ledger [--entries 100000] [--rounds 3] [--batches 300] [--check]

Settlements are written to databases of our own. Leaves follow at once in a process of its own, as in the feed
process. Cost: log batches of simulated matches are applied as `scripts.bench.ingest` does it, in turn
with that process and while it is suspended; figures are medians of the rounds. A web process serves so many
leaves, which the programs of `scripts/verifier` save and verify.
`--check` fails when that takes 10 s of CPU, or a batch costs more than a twentieth more beside the ledger.
"""

import argparse
import asyncio
import multiprocessing
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import msgspec
import psutil
import uvloop

from app import settings as configuration
from app.access.api_keys import KeyProperties
from app.domain.market import Market, MarketStatus, Result, market_name
from app.domain.match import Match, Status
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.kit.clock import system_clock
from app.ledger.writer import LedgerWriter
from app.main import create_app
from app.settings import Settings
from app.store import changes, ledger, matches
from app.store.changes import ChangeDraft
from app.store.connections import Store, open_store
from scripts import services
from scripts.bench.ingest import measure
from scripts.bench.processors import processor_seconds
from scripts.bench.server_process import PortQueue, run_servers, server_process
from scripts.lab.own_data import database, issue_key

_VERIFIER = Path(__file__).resolve().parents[1] / "verifier"
_OF_MATCH, _TOGETHER = 500, 25  #: entries of a match, and of one transaction
_CACHED, _MATCHES, _SECONDS = 200, 10, 4.0
_LIMIT_SECONDS, _LIMIT_RATIO = 10.0, 1.05
_encode = msgspec.json.Encoder().encode


def serve(settings: Settings, ports: PortQueue) -> None:
    uvloop.run(run_servers((create_app(settings),), ports))


def follow(settings: Settings) -> None:
    """Write leaves and heads until the process is ended."""

    async def run() -> None:
        async with await open_store(settings.database_url, 2) as store:
            await LedgerWriter(store, settings.secret_key).run()

    uvloop.run(run())


@asynccontextmanager
async def following(settings: Settings, store: Store) -> AsyncIterator[int]:
    """A process that writes the ledger, and has begun; its id."""
    process = multiprocessing.get_context("spawn").Process(target=follow, args=(settings,), daemon=True)
    process.start()
    try:
        async with store.autocommit() as tx:
            while await ledger.newest_head(tx) is None:
                await asyncio.sleep(0.1)
        yield process.pid or 0
    finally:
        process.terminate()
        process.join(10)


class Figures(NamedTuple):
    """Of a log batch, milliseconds: the worker's processor and until it was committed, in the median; and the
    processor of the process that writes the ledger, in the mean."""

    worker: float
    wait: float
    ledger: float


async def cost(batches: int, *, beside: bool) -> Figures:
    """Of batches applied to a database of our own."""
    async with (
        database(configuration.load()) as settings,
        await open_store(settings.database_url, 2, _CACHED) as store,
        following(settings, store) as pid,
    ):
        process = psutil.Process(pid)
        if not beside:
            process.suspend()
        before = processor_seconds(pid)
        found = await measure(store, settings.database_url, _MATCHES, batches, _SECONDS, None)
        used = processor_seconds(pid) - before
        process.resume()
    return Figures(statistics.median(found.batches), statistics.median(found.waits), used * 1000 / batches)


async def compare(rounds: int, batches: int) -> float:
    """Print the cost of a batch with and without the ledger; the ratio of the worker's."""
    found: dict[bool, list[Figures]] = {False: [], True: []}
    for number in range(rounds):
        for beside in (False, True) if number % 2 else (True, False):
            found[beside].append(await cost(batches, beside=beside))
    without, with_ledger = (
        Figures(*map(statistics.median, zip(*found[each], strict=True))) for each in (False, True)
    )
    print("| a log batch | without | beside the ledger | ratio |\n| --- | --- | --- | --- |")
    for what, name in (("worker, ms of CPU", "worker"), ("ms until committed", "wait")):
        one, other = getattr(without, name), getattr(with_ledger, name)
        print(f"| {what} | {one:.2f} | {other:.2f} | {other / one:.2f} |")
    print(f"| ledger, ms of CPU | | {with_ledger.ledger:.2f} | |", flush=True)
    return with_ledger.worker / without.worker


async def verify(entries: int) -> float:
    """Print what writing, serving and verifying so many leaves takes; the verifier's own seconds of CPU."""
    async with database(configuration.load()) as settings:
        async with await open_store(settings.database_url, 4) as store:
            key = await issue_key(
                store, settings, KeyProperties(bundles=("cs2.operator",), rate_limit_rpm=100_000)
            )
            writer = LedgerWriter(store, settings.secret_key)
            await writer.catch_up()
            await _fill(store, entries)
            began, processor = time.perf_counter(), time.process_time()
            await writer.catch_up()
            seconds, used = time.perf_counter() - began, time.process_time() - processor
            print(f"{entries} leaves written in {seconds:.1f} s, {used:.1f} s of CPU", flush=True)
            later = LedgerWriter(store, settings.secret_key, lambda: system_clock() + 3_600_000)
            await later.catch_up()
        with tempfile.TemporaryDirectory() as folder:
            async with server_process(serve, settings) as (_, ports):
                url = f"http://127.0.0.1:{ports[0]}"
                saved = await asyncio.to_thread(_run, "save_ledger.py", folder, "--url", url, "--key", key)
            return saved + await asyncio.to_thread(_run, "verify_ledger.py", folder)


def _run(program: str, folder: str, *options: str) -> float:
    """Have the program run; the seconds of its processor, since the machine may have other work."""
    began, before = time.perf_counter(), _children()
    command = [sys.executable, str(_VERIFIER / program), "--directory", folder, *options]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    seconds, used = time.perf_counter() - began, _children() - before
    print(f"{program}: {seconds:.1f} s, {used:.1f} s of CPU: {said}", flush=True)
    return used


def _children() -> float:
    """Seconds of processor of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def _fill(store: Store, entries: int) -> None:
    """Matches with settlements, each of a market with a price."""
    numbers = count(1)
    for _ in range(0, entries, _OF_MATCH):
        async with store.transaction() as tx:
            number = await matches.next_number(tx)
            match = Match(uuid4(), number, "Northwind", "Harbour", "Bench Cup", status=Status.LIVE)
            await matches.insert(tx, match)
        for _ in range(0, _OF_MATCH, _TOGETHER):
            own = [f"map=1|round={next(numbers)}|team=home" for _ in range(_TOGETHER)]
            async with store.transaction() as tx:
                match = await changes.append(
                    tx, match, [*map(_price, own), *map(_entry, own)], system_clock()
                )


def _price(specifiers: str) -> ChangeDraft:
    market = Market(13, specifiers, MarketStatus.ACTIVE, Decimal("1.85"), 0.5)
    return ChangeDraft("market", market_name(*market.key), "market.updated", "odds_change", _encode(market))


def _entry(specifiers: str) -> ChangeDraft:
    pending, settled = LedgerStatus.PENDING, LedgerStatus.SETTLED
    entry = LedgerEntry(13, specifiers, pending, settled, Result.WON, "round won", rests_on=(1, 2))
    return ChangeDraft(
        "settlement", market_name(13, specifiers), "bet_settlement", "bet_settlement", entry=entry
    )


async def main(entries: int, rounds: int, batches: int, *, check: bool) -> None:
    seconds = await verify(entries) if entries else 0.0
    ratio = await compare(rounds, batches) if rounds else 1.0
    if check and (seconds > _LIMIT_SECONDS or ratio > _LIMIT_RATIO):
        raise SystemExit(f"verified in {seconds:.1f} s; a batch costs {ratio:.2f} of what it did")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batches", type=int, default=300)
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    with services.running(services.BENCHMARKS):
        uvloop.run(main(chosen.entries, chosen.rounds, chosen.batches, check=chosen.check))
