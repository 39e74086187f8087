"""How long an envelope takes: from the log line that we accepted to the tenant's consumer.

    python -m scripts.bench.feed_latency [--tenants 50] [--matches 40] [--speed 4] [--every 1] [--seconds 30]

The whole service is run: simulated matches send their logs over HTTP, ingest applies them, the feed publishes
to every tenant, and each copy is timed where it arrives (`x-arrived-at` is when its lines arrived; all clocks
are this machine's). Then a tenant requests a full recovery of 1,000 more matches with 20 markets each while
play goes on. The reference, measured at the same time, is a bare message to the same broker and back. Uses
the servers that the settings lead to, or starts its own; makes a database and tenants of its own.
"""

import argparse
import asyncio
import gc
import os
import time
from collections.abc import Sequence
from decimal import Decimal
from uuid import uuid4

import msgspec

from app import settings as configuration
from app.broker.management import Management
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Status
from app.domain.recovery import RecoveryKind
from app.kit.clock import system_clock
from app.recovery.request import RecoveryParameters, RecoveryService
from app.settings import Settings
from app.store import markets, matches
from app.store.connections import Store, open_store
from scripts import services
from scripts.bench.feed_rig import Rig, rigged
from scripts.bench.processors import Processors
from scripts.lab.own_data import database, internal_vhost
from scripts.lab.play import Play

_WARM_SECONDS = 40.0
_FEW = 5  #: log batches in all queues: ingest keeps up
MATCHES, MARKETS = 1000, 20


class Figure(msgspec.Struct, frozen=True):
    """Milliseconds from line to consumer, and the reference's; envelopes a second to each tenant."""

    what: str
    rate: float
    p50: float
    p99: float
    bare: float
    bare_p99: float

    def text(self) -> str:
        return (
            f"| {self.what} | {self.rate:.0f} | {self.p50:.0f} | {self.p99:.0f} | {self.bare:.1f} | "
            f"{self.bare_p99:.1f} | {self.p50 / self.bare:.1f}x |"
        )


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return float(ordered[min(len(ordered) - 1, int(len(ordered) * share))])


def forget(rig: Rig) -> float:
    """Begin to measure; the moment."""
    for consumer in rig.consumers:
        consumer.delays.clear()
        consumer.received = 0
    rig.probe.delays.clear()
    return time.perf_counter()


def figure(rig: Rig, what: str, began: float) -> Figure:
    seconds = time.perf_counter() - began
    delays = [delay for consumer in rig.consumers for delay in consumer.delays]
    if not delays:
        raise SystemExit(f"{what}: nothing has arrived")
    return Figure(
        what,
        len(delays) / len(rig.consumers) / seconds,
        quantile(delays, 0.5),
        quantile(delays, 0.99),
        quantile(rig.probe.delays, 0.5),
        quantile(rig.probe.delays, 0.99),
    )


def costs(cores: dict[str, float], rate: float, size: float) -> str:
    """What an envelope of `size` bytes costs: milliseconds of the processor by part, for all its copies."""
    parts = [*cores, "together"]
    millis = [1000 * each / rate for each in (*cores.values(), sum(cores.values()))]
    return "\n".join(
        (
            f"| processor, ms an envelope | {' | '.join(parts)} |",
            f"|{' --- |' * (len(parts) + 1)}",
            f"| {rate:.0f}/s of {size:.0f} bytes | {' | '.join(f'{each:.1f}' for each in millis)} |",
        )
    )


async def waiting_batches(settings: Settings) -> int:
    """How many log batches wait for ingest; the broker counts them every few seconds."""
    async with Management(settings.rabbitmq_api_url) as management:
        queues = await management.queues(settings.rabbitmq_internal_vhost)
        return sum(each.ready for each in queues)


async def drained(settings: Settings) -> None:
    """Wait until ingest has applied what was rushed through to bring the matches into play."""
    async with asyncio.timeout(300):
        while await waiting_batches(settings) >= _FEW:
            await asyncio.sleep(1)


async def stock(store: Store) -> None:
    """Matches to come, each with open markets; published only by a recovery."""
    odds = Decimal("1.85")
    for _ in range(MATCHES):
        async with store.transaction() as tx:
            number = await matches.next_number(tx)
            match = Match(uuid4(), number, "Northwind", "Harbour", "Stock", status=Status.UPCOMING)
            await matches.insert(tx, match)
            offers = [
                Market(13, f"map=1|round={each}|team=home", MarketStatus.ACTIVE, odds, 0.5)
                for each in range(1, MARKETS + 1)
            ]
            await tx.write(markets.save_statements(match.id, offers))


async def recovery(rig: Rig) -> float:
    """Request a full snapshot as the first tenant; seconds until its `snapshot_complete`."""
    recoveries, consumer = RecoveryService(rig.store, system_clock, 4320 * 60_000), rig.consumers[0]
    consumer.complete.clear()
    began = time.perf_counter()
    parameters = RecoveryParameters("0", str(time.time_ns()))
    await recoveries.accept(rig.tenants[0], RecoveryKind.REST_FULL, parameters, by="benchmark")
    await consumer.complete.wait()
    return time.perf_counter() - began


async def main(tenants: int, playing: int, speed: float, every: float, seconds: float) -> None:
    async with (
        database(configuration.load()) as settings,
        await open_store(settings.database_url, 4) as store,
        internal_vhost(settings) as own,
    ):
        await stock(store)
        async with rigged(own, store, tenants) as rig, Play(batch_seconds=every) as play:
            play.run_lanes([rig.operators], playing, speed)
            await asyncio.sleep(_WARM_SECONDS)
            await drained(own)
            gc.freeze()  # the logs to be sent are many objects: the consumers must not wait for their count
            print("| | envelopes/s | p50 ms | p99 ms | bare p50 ms | bare p99 ms | p50 to bare |")
            print("| --- | --- | --- | --- | --- | --- | --- |")
            began = forget(rig)
            busy = Processors(
                {**rig.pids, "servers and consumers": os.getpid()},
                {"database": own.database_url, "broker": own.rabbitmq_url},
            )
            await asyncio.sleep(seconds)
            idle, cores = figure(rig, f"{tenants} tenants", began), busy.cores()
            size = sum(consumer.received for consumer in rig.consumers) / sum(
                len(consumer.delays) for consumer in rig.consumers
            )
            print(idle.text(), flush=True)
            began = forget(rig)
            took = await recovery(rig)
            during = figure(rig, "during a recovery", began)
            print(during.text())
            print(
                f"\nfull recovery of {MATCHES} matches with {MARKETS} markets each, and those in play: "
                f"{took:.2f} s to snapshot_complete; live p99 meanwhile {during.p99 / idle.p99:.2f}x\n"
            )
            print(costs(cores, idle.rate, size))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tenants", type=int, default=50)
    parser.add_argument("--matches", type=int, default=40, help="matches that are played at once")
    parser.add_argument("--speed", type=float, default=4.0, help="how many times as fast as real ones")
    parser.add_argument(
        "--every", type=float, default=1.0, help="seconds of lines in one body, as servers send"
    )
    parser.add_argument("--seconds", type=float, default=30.0)
    chosen = parser.parse_args()
    with services.running(services.BENCHMARKS):
        asyncio.run(main(chosen.tenants, chosen.matches, chosen.speed, chosen.every, chosen.seconds))
