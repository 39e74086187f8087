"""How long a result takes: from the arrival of the log lines that decide it to the broker's confirm.

    python -m scripts.bench.results [--matches 40] [--speed 1] [--every 1] [--tenants 3] [--minutes 3]

The whole service is run, and simulated matches send their logs over HTTP. The figures are those of the status
(`docs/status.md`), by the counts that the feed process writes each minute: reported as the upper bound of a
bucket, at most a quarter too long. A server sends the lines of `--every` seconds in one body, so a deciding
line is at most so much older than its arrival. The reference, measured at the same time, is a bare message to
the same broker and back. Uses the servers that the settings lead to, or starts its own.
"""

import argparse
import asyncio
import time

from app import settings as configuration
from app.amqp.delay_counts import MESSAGES, OF_FAMILY, RESULTS
from app.domain.daily_files import day_of
from app.domain.delays import Counts, no_counts, percentiles, total
from app.kit.clock import system_clock
from app.store import status_days
from app.store.connections import Store, open_store
from scripts import services
from scripts.bench.feed_latency import drained, forget
from scripts.bench.feed_rig import Rig, rigged
from scripts.bench.histogram import quantile
from scripts.lab.own_data import database, internal_vhost
from scripts.lab.play import Play

_WARM_SECONDS = 40.0
_AFTER_SECONDS = 3.0  #: after the end of a minute its counts are written


async def counted(store: Store) -> dict[str, Counts]:
    """Everything that was counted today up to the end of this minute, by figure."""
    await asyncio.sleep(60 - time.time() % 60 + _AFTER_SECONDS)
    async with store.autocommit() as tx:
        found = await status_days.counts(tx, str(day_of(system_clock())))
    return {figure: total(each) for figure, each in found.items()}


def report(before: dict[str, Counts], after: dict[str, Counts], rig: Rig) -> str:
    """A table of what was counted between."""
    bare = quantile(rig.probe.delays, 0.95)
    lines = [
        "| | messages | p50 s | p95 s | p99 s | p95 to bare p95 |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    families = sorted(figure for figure in after if figure.startswith(OF_FAMILY))
    for figure in (MESSAGES, RESULTS, *families):
        earlier = before.get(figure, no_counts())
        found = percentiles([late - early for early, late in zip(earlier, after[figure], strict=True)])
        if found.p95 is not None:
            times = f"{found.p50} | {found.p95} | {found.p99} | {found.p95 * 1000 / bare:.0f}x"
            lines.append(f"| {figure} | {found.count} | {times} |")
    return "\n".join([*lines, f"\nbare message p95: {bare:.1f} ms"])


async def main(matches: int, speed: float, every: float, tenants: int, minutes: int) -> None:
    async with (
        database(configuration.load()) as settings,
        await open_store(settings.database_url, 4) as store,
        internal_vhost(settings) as own,
        rigged(own, store, tenants) as rig,
        Play(batch_seconds=every) as play,
    ):
        play.run_lanes([rig.operators], matches, speed)
        await asyncio.sleep(_WARM_SECONDS)
        await drained(own)
        before = await counted(store)
        forget(rig)
        await asyncio.sleep(60 * (minutes - 1))
        print(report(before, await counted(store), rig))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--matches", type=int, default=40, help="matches that are played at once")
    parser.add_argument("--speed", type=float, default=1.0, help="how many times as fast as real ones")
    parser.add_argument("--every", type=float, default=1.0, help="seconds of lines in one body")
    parser.add_argument("--tenants", type=int, default=3)
    parser.add_argument("--minutes", type=int, default=3)
    chosen = parser.parse_args()
    with services.running(services.BENCHMARKS):
        asyncio.run(main(chosen.matches, chosen.speed, chosen.every, chosen.tenants, chosen.minutes))
