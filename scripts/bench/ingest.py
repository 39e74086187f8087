"""What a log batch costs a worker of ingest, and how much the database does for it.

    python -m scripts.bench.ingest [--matches 10] [--batches 400] [--seconds 4] [--calls]

Simulated matches are applied in turn, a batch of some seconds of lines after the other, to a real PostgreSQL,
in one process as ingest does, matches in play cached. Times are the processor's, since the machine may have
other work. `--calls` prints the functions that take longest, which the profiler slows down.
"""

import argparse
import asyncio
import cProfile
import pstats
import statistics
import time
from collections.abc import Iterator

import msgspec
import uvloop

from app import settings as configuration
from app.commands import creation
from app.commands.creation import NewMatch
from app.domain.match import Match
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig, apply_batch
from app.kit import garbage_collection
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.store.connections import Store, open_store
from scripts import services
from scripts.bench.processors import Processors
from scripts.lab.own_data import database

_BEGIN = 1_800_000_000_000
_WARM = 100  #: batches before the measured ones: rounds of several matches, tables of several maps
_CACHED = 200
_CONFIG = IngestConfig()


class Cost(msgspec.Struct, frozen=True):
    """Milliseconds of the worker's processor of each batch, and until it was committed, cores that each
    server kept busy in so many seconds, and rows that were added to the change log."""

    batches: list[float]
    waits: list[float]
    cores: dict[str, float]
    seconds: float
    changes: int

    def text(self) -> str:
        count, ordered = len(self.batches), sorted(self.batches)
        database_ms = self.cores.get("database", 0.0) * self.seconds * 1000 / count
        return (
            "| batches | changes a batch | worker, ms a batch: mean | median | 99th percentile | ms a change "
            "| database, ms a batch |\n| --- | --- | --- | --- | --- | --- | --- |\n"
            f"| {count} | {self.changes / count:.1f} | {statistics.fmean(ordered):.2f} "
            f"| {statistics.median(ordered):.2f} | {ordered[int(count * 0.99)]:.2f} "
            f"| {sum(ordered) / max(1, self.changes):.2f} | {database_ms:.2f} |"
        )


def batches_of(match: Match, seed: int, seconds: float) -> Iterator[Batch]:
    """The log of one simulated map, cut every so many seconds of play."""
    teams = fictional_world().teams
    home, away = teams[2 * seed % len(teams)], teams[(2 * seed + 1) % len(teams)]
    lines, _ = simulate(MatchPlan(home, away, seed, _BEGIN, brief=True))
    sent, waiting, due = 0, list[str](), seconds
    for line in (*lines, None):
        if line is not None and line.at < due:
            waiting.append(line.text)
            continue
        if waiting:
            body = "".join(f"{text}\n" for text in waiting).encode("utf-8", "surrogateescape")
            yield Batch(
                id=f"{match.number}/{sent}",
                match_id=match.id,
                number=match.number,
                arrived_at=_BEGIN + int(due * 1000),
                body=body,
                instance="run",
                begin=sent,
                end=sent + len(body),
            )
            sent += len(body)
        if line is not None:
            waiting = [line.text]
            while due <= line.at:
                due += seconds


async def _matches(store: Store, count: int) -> list[Match]:
    teams = fictional_world().teams
    made = []
    for number in range(count):
        home, away = teams[2 * number % len(teams)], teams[(2 * number + 1) % len(teams)]
        new = NewMatch(allow_unrated=True, home=home.name, away=away.name, event="Bench", scheduled_at=_BEGIN)
        made.append(await creation.create_match(store, new, _BEGIN, _CONFIG.pricing))
    return made


async def measure(
    store: Store,
    url: str,
    matches: int,
    batches: int,
    seconds: float,
    profiler: cProfile.Profile | None,
) -> Cost:
    """Apply so many batches after the warm-up, one of each match in turn."""
    turns = [batches_of(match, seed, seconds) for seed, match in enumerate(await _matches(store, matches))]
    played = [batch for together in zip(*turns, strict=False) for batch in together][: _WARM + batches]
    if len(played) < _WARM + batches:
        raise SystemExit(f"{matches} matches have only {len(played) - _WARM} batches: more --matches")
    for batch in played[:_WARM]:
        await apply_batch(store, batch, batch.arrived_at, _CONFIG)
    garbage_collection.spare_long_lived_objects()
    head = await _head(store)
    if profiler:
        profiler.enable()
    busy, began, times, waits = Processors({}, {"database": url}), time.perf_counter(), [], []
    for batch in played[_WARM:]:
        before, arrived = time.process_time(), time.perf_counter()
        await apply_batch(store, batch, batch.arrived_at, _CONFIG)
        times.append((time.process_time() - before) * 1000)
        waits.append((time.perf_counter() - arrived) * 1000)
    cores = busy.cores()
    if profiler:
        profiler.disable()
    return Cost(times, waits, cores, time.perf_counter() - began, await _head(store) - head)


async def _head(store: Store) -> int:
    async with store.autocommit() as tx:
        return int(await tx.value("SELECT max(seq) FROM change"))


async def main(matches: int, batches: int, seconds: float, profiler: cProfile.Profile | None) -> None:
    async with (
        database(configuration.load()) as settings,
        await open_store(settings.database_url, 2, _CACHED) as store,
    ):
        cost = await measure(store, settings.database_url, matches, batches, seconds, profiler)
    print(cost.text())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--matches", type=int, default=10)
    parser.add_argument("--batches", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=4.0, help="of play in one batch")
    parser.add_argument("--calls", action="store_true")
    chosen = parser.parse_args()
    profile = cProfile.Profile(time.process_time) if chosen.calls else None
    with services.running(services.BENCHMARKS), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(chosen.matches, chosen.batches, chosen.seconds, profile))
    if profile:
        pstats.Stats(profile).sort_stats("cumtime").print_stats(60)
