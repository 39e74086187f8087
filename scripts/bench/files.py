"""What daily files of prices take: seconds and memory by how many prices a day has.

    python -m scripts.bench.files [--sizes 100000 300000 1000000] [--check]

Days of prices are written to a database of our own, and pruned from the change log as a feed process does,
so that they are kept. Then `matchfeed files make` makes each day's files, Parquet and CSV, in a process of
its own; seconds and the largest resident memory are those of the whole process. The reference is pyarrow's
own writing of the largest table, which is in the memory of this process: with Zstandard, and as CSV through
gzip.
`--check` fails when the largest day takes more than 30 s, or a third more memory than the smallest.
"""

import argparse
import asyncio
import gzip
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import msgspec
from msgspec.structs import replace
from pyarrow import Table, csv, parquet

from app import settings as configuration
from app.access import admin, profiles
from app.access.api_keys import KeyProperties
from app.access.profiles import ProfileDraft
from app.domain.daily_files import DAY_MILLIS, FileFormat, begin_of
from app.domain.market import Market, MarketStatus, market_name
from app.domain.match import Match, Status
from app.domain.trading_controls import MarginControl
from app.files.directory import FileDirectory
from app.settings import Settings
from app.store import changes, matches
from app.store.changes import ChangeDraft
from app.store.connections import Store, open_store
from app.store.tenants import by_slug
from scripts import services
from scripts.lab.own_data import database, issue_key

_FIRST = date(2024, 4, 1)
_MARKETS, _OF_MATCH = 150, 20_000  #: markets of a match, and prices
_LIMIT_SECONDS, _LIMIT_GROWTH = 30.0, 4 / 3
_ENVELOPE = 100  #: prices that change at once
_MIB = 1024 * 1024
_encode = msgspec.json.Encoder().encode


class Figure(NamedTuple):
    """A day's files: prices, seconds, those of processors, and the largest resident memory (MiB)."""

    prices: int
    seconds: float
    processor: float
    memory: float


async def main(sizes: list[int], *, check: bool) -> None:
    """Measure and print; exits with 1 if `check` fails."""
    with tempfile.TemporaryDirectory() as place:
        async with database(configuration.load()) as settings:
            found = await _measure(replace(settings, files_directory=place), sizes)
    largest, growth = found[-1], found[-1].memory / found[0].memory
    if check and (largest.seconds > _LIMIT_SECONDS or growth > _LIMIT_GROWTH):
        raise SystemExit(f"{largest.seconds:.1f} s, {growth:.2f} times the memory of the smallest day")


async def _measure(settings: Settings, sizes: list[int]) -> list[Figure]:
    days = {_FIRST + timedelta(days=number): size for number, size in enumerate(sizes)}
    rights = KeyProperties(scopes=("cs2:markets:read",))
    async with await open_store(settings.database_url, 2) as store:
        await issue_key(store, settings, rights)
        await _give_profile(store, "margin")
        for day, size in days.items():
            await _fill(store, day, size)
        print(f"{'':>20} {'prices':>10} {'s':>6} {'CPU s':>6} {'prices/s':>9} {'MiB':>5}", flush=True)
        found = [await _made("standard odds", settings, day, size) for day, size in days.items()]
        await issue_key(store, settings, rights, "margin")
    await _made("odds of a profile", settings, max(days), days[max(days)])
    _reference(FileDirectory(Path(settings.files_directory)), max(days), found[-1])
    return found


async def _give_profile(store: Store, slug: str) -> None:
    margins = (MarginControl(0.05), MarginControl(0.08, phase="in_play", long_shots=0.2))
    async with store.transaction() as tx:
        await admin.create_tenant(tx, slug, slug.title(), by="bench", now=1)
        await profiles.publish(tx, "bench", ProfileDraft(margins, min_move=0.01), by="bench", now=1)
        await profiles.assign(tx, slug, "bench", by="bench", now=1)
        assert (await by_slug(tx, slug)).profiles


async def _fill(store: Store, day: date, size: int) -> None:
    """A day with so many prices, kept beyond the change log."""
    begin = begin_of(day)
    for first in range(0, size, _OF_MATCH):
        async with store.transaction() as tx:
            number = await matches.next_number(tx)
            match = Match(uuid4(), number, "Northwind", "Harbour", "Bench Cup", status=Status.LIVE)
            await matches.insert(tx, match)
        for at, drafts in enumerate(_prices(min(_OF_MATCH, size - first))):
            async with store.transaction() as tx:
                match = await changes.append(tx, match, drafts, begin + (first + at) * 50 % DAY_MILLIS)
    pruned = 1
    while pruned:
        async with store.transaction() as tx:
            pruned = await changes.prune(tx, begin + 2 * DAY_MILLIS)


def _prices(count: int) -> Iterator[list[ChangeDraft]]:
    """Envelopes with so many prices of the markets of a match."""
    for first in range(0, count, _ENVELOPE):
        markets = [_market(number) for number in range(first, min(first + _ENVELOPE, count))]
        yield [
            ChangeDraft("market", market_name(*one.key), "market.updated", "odds_change", _encode(one))
            for one in markets
        ]


def _market(number: int) -> Market:
    seat = number % _MARKETS
    chance = 0.05 + 0.9 * (number * 7919 % 10_007) / 10_007
    name, group = f"map=1|round={seat + 1}|team=home", f"round_winner:map=1|round={seat + 1}"
    odds = Decimal(f"{1 / chance / 1.06:.3f}")
    market = Market(13, name, MarketStatus.ACTIVE, odds, chance, group, phase="in_play", priced_at=number)
    if number % 5:
        return market
    return replace(market, status=MarketStatus.SUSPENDED, reason="the round is decided")


async def _made(what: str, settings: Settings, day: date, prices: int) -> Figure:
    """Make the day's files in a process of its own; its figures."""
    found = await asyncio.to_thread(_run, settings, day, prices)
    figures = f"{found.seconds:>6.1f} {found.processor:>6.1f} {prices / found.seconds:>9,.0f}"
    print(f"{what:>20} {prices:>10,} {figures} {found.memory:>5.0f}", flush=True)
    return found


def _run(settings: Settings, day: date, prices: int) -> Figure:
    variables = {name: str(each) for name, each in msgspec.to_builtins(settings).items()}
    command = (sys.executable, "-m", "app.cli", "files", "make", "--day", str(day))
    began = time.perf_counter()
    quiet = [(os.POSIX_SPAWN_OPEN, each, os.devnull, os.O_WRONLY, 0) for each in (1, 2)]
    pid = os.posix_spawn(command[0], command, os.environ | variables, file_actions=quiet)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} has failed")
    processor = used.ru_utime + used.ru_stime
    return Figure(prices, time.perf_counter() - began, processor, used.ru_maxrss / 1024)


def _reference(directory: FileDirectory, day: date, made: Figure) -> None:
    """pyarrow's writing of the same table, and what our files have of bytes."""
    manifest = directory.manifest(day)
    assert manifest
    paths = {one.form: directory.path_of(day, one) for one in manifest.files}
    table = parquet.read_table(paths[FileFormat.PARQUET])
    assert table.num_rows == made.prices
    seconds = {form: _plain(table, form) for form in paths}
    sizes = {form: path.stat().st_size / _MIB for form, path in paths.items()}
    print(
        "the same table from memory, by pyarrow: "
        + ", ".join(f"{form} {taken:.1f} s" for form, taken in seconds.items())
    )
    print(f"ours take {made.seconds / sum(seconds.values()):.1f} times as long, from the database")
    print("files: " + ", ".join(f"{form} {size:.1f} MiB" for form, size in sizes.items()))


def _plain(table: Table, form: FileFormat) -> float:
    with tempfile.TemporaryDirectory() as place:
        path, began = Path(place) / "plain", time.perf_counter()
        if form is FileFormat.PARQUET:
            parquet.write_table(table, path, compression="zstd")
        else:
            with gzip.open(path, "wb", 1) as file:
                csv.write_csv(table, file)
        return time.perf_counter() - began


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    with services.running(services.BENCHMARKS):
        asyncio.run(main(chosen.sizes, check=chosen.check))
