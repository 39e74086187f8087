"""What the console's live page costs with many matches in play, beside what it costs with few.

    python -m scripts.bench.console [--matches 10,200] [--minutes 10] [--speed 1] [--plot FILE]

The whole service is run. Simulated matches send their logs as game servers do, a body a second each, at their
own speed; a real browser (headless Chromium) has the live page open, as an operator who has signed in.
Measured are: how long a line that moves a row takes from its request until the browser has drawn the row;
tasks of the page over 50 ms; the processor's time of its main thread; its memory, after a collection each
twentieth of the time; bytes of its stream; and what the web process needs with the page open and without. For
each number of matches the service is started anew, with a database of its own. Uses the servers that the
settings lead to, or starts its own.
"""

import asyncio
import gc
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import click
import msgspec

from app import settings as configuration
from app.domain.tenant import OperatorRole
from app.kit import logging
from app.settings import Settings
from app.store.connections import open_store
from scripts import services
from scripts.bench.console_figures import Run, draw, processors, table
from scripts.bench.console_page import LivePage, LongTask, Memory, Work, browser, open_live_page
from scripts.bench.console_play import Delay, Play
from scripts.bench.feed_latency import drained, waiting_batches
from scripts.bench.feed_rig import answering, processes
from scripts.bench.processors import Processors
from scripts.http_client import client
from scripts.lab.own_data import database, internal_vhost, operator_key
from scripts.lab.person import PASSWORD, add_operator
from scripts.local_services import ports

_SETTLE_SECONDS, _LATE_MILLIS = 10.0, 30_000
_MEMORIES = 20  #: how often the memory is measured in a run


class Rig(msgspec.Struct, frozen=True):
    """The running service: its settings, its processes' ids by command, an operator's e-mail
    address, a key."""

    settings: Settings
    base_url: str
    pids: dict[str, int]
    email: str
    key: str


@asynccontextmanager
async def serving() -> AsyncIterator[Rig]:
    """The service with a database, an internal vhost and an operators' listener of its own."""
    loaded = msgspec.structs.replace(configuration.load(), operator_port=ports.free_ports([0])[0])
    async with (
        database(loaded) as own,
        await open_store(own.database_url, 2) as store,
        internal_vhost(own) as settings,
        processes(settings) as (base_url, pids),
    ):
        key = await operator_key(settings, store)
        email = await add_operator(store, settings, OperatorRole.VIEWER)
        async with client(base_url, key) as http:
            await answering(http)
        yield Rig(settings, base_url, pids, email, key)


def processors_of(rig: Rig, page: LivePage | None = None) -> Processors:
    """Of every part, from now on."""
    parts = {"web": rig.pids["serve"], "ingest": rig.pids["ingest"], "feed": rig.pids["feed"]}
    if page:
        parts["page"] = page.renderer.pid
    urls = {"database": rig.settings.database_url, "broker": rig.settings.rabbitmq_url}
    return Processors({**parts, "simulator": os.getpid()}, urls)


class Watch:
    """Reads the page as long as it is measured."""

    def __init__(self, page: LivePage, play: Play) -> None:
        self._page, self._play = page, play
        self.delays: list[Delay] = []
        self.long_tasks: list[LongTask] = []
        self.memory: list[Memory] = []

    async def run(self, seconds: float) -> tuple[float, float]:
        """Measure for so long; when it began and ended (Unix ms)."""
        await self._drain()
        self.delays.clear()
        self.long_tasks.clear()
        begin = time.time() * 1000
        for part in range(_MEMORIES):
            until = begin / 1000 + seconds * (part + 1) / _MEMORIES
            while (left := until - time.time()) > 0:
                await asyncio.sleep(min(1.0, left))
                await self._drain()
            self.memory.append(await self._page.memory())
        await self._drain()
        end = time.time() * 1000
        self.delays = [each for each in self.delays if begin <= each.at < end]
        return begin, end

    async def _drain(self) -> None:
        self._play.check()
        rows, tasks = await self._page.drain()
        self.long_tasks += tasks
        for row in rows:
            if facts := self._play.facts.get(row.match):
                self.delays += facts.seen(row.fact, row.arrived, row.painted)


async def measure(matches: int, seconds: float, speed: float) -> Run:
    """One run with so many matches."""
    async with (
        browser() as tab,
        serving() as rig,
        Play(rig.base_url, rig.settings.operator_url, rig.key, matches, speed) as play,
    ):
        await play.begun(matches)
        await drained(rig.settings)
        await asyncio.sleep(_SETTLE_SECONDS)
        gc.freeze()
        closed = processors_of(rig)
        await asyncio.sleep(min(30.0, seconds))
        cores_closed = closed.cores()
        page = await open_live_page(tab, f"{rig.settings.operator_url}/console", rig.email, PASSWORD)
        await asyncio.sleep(_SETTLE_SECONDS)
        print(f"{matches} matches: the page has {await page.rows()} rows", file=sys.stderr, flush=True)
        watch, opened, before = Watch(page, play), processors_of(rig, page), await page.work()
        begin, end = await watch.run(seconds)
        waiting = await waiting_batches(rig.settings)
        after, cores_open = await page.work(), opened.cores()
        if page.errors:
            raise SystemExit(f"the page reports: {page.errors[0]}")
        missed = sum(one.waiting(end - _LATE_MILLIS) for one in play.facts.values() if not one.over)
    work = Work(*(getattr(after, each) - getattr(before, each) for each in Work.__struct_fields__))
    return Run(
        *(matches, begin, end, watch.delays, missed, waiting, watch.long_tasks, watch.memory),
        *(work, cores_closed, cores_open),
    )


def stored(path: Path | None) -> dict[int, Run]:
    """The runs that were stored in a file, by their number of matches."""
    if path is None or not path.exists():
        return {}
    runs = [msgspec.json.decode(line, type=Run) for line in path.read_bytes().splitlines()]
    return {run.matches: run for run in runs}


async def main(matches: list[int], seconds: float, speed: float, path: Path | None) -> list[Run]:
    """The runs with these numbers of matches, those that are not stored measured and stored."""
    runs = stored(path)
    for number in matches:
        if number in runs:
            continue
        runs[number] = await measure(number, seconds, speed)
        if path:
            with path.open("ab") as file:
                file.write(msgspec.json.encode(runs[number]) + b"\n")
    return [runs[number] for number in matches]


@click.command()
@click.option("--matches", default="10,200", show_default=True, help="Matches at once; the first: reference.")
@click.option("--minutes", default=10.0, show_default=True, help="Measured for each number of matches.")
@click.option("--speed", default=1.0, show_default=True, help="How many times as fast as real ones they are.")
@click.option("--plot", type=click.Path(path_type=Path), help="Also draw the runs, into this file.")
@click.option("--runs", type=click.Path(path_type=Path), help="Store runs here; those that are here count.")
def command(matches: str, minutes: float, speed: float, plot: Path | None, runs: Path | None) -> None:
    logging.configure("bench", level="ERROR")
    numbers = [int(each) for each in matches.split(",")]
    with services.running(services.BENCHMARKS):
        found = asyncio.run(main(numbers, minutes * 60, speed, runs))
    for run in found:
        print(processors(run))
    print(table(found[0], found[-1]))
    if plot:
        draw(found, plot)


if __name__ == "__main__":
    command()
