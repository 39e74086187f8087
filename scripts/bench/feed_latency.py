"""How long an envelope takes: from the moment when its log lines were to be sent to the tenant's consumer.

    python -m scripts.bench.feed_latency [--tenants 50] [--matches 40] [--speed 4] [--every 1] [--seconds 30]

The whole service is run: simulated matches send their logs over HTTP, ingest applies them, the feed publishes
to every tenant, and each copy is timed where it arrives; all clocks are this machine's. A delay counts from
when the lines were due at their server: where one body waits for another, so do its envelopes (no
coordinated omission). Then a tenant requests a full recovery of 1,000 more matches with 20 markets each while
play goes on. The reference, measured at the same time, is a bare message to the same broker and back, one due
each twentieth of a second. Uses the servers that the settings lead to, or starts its own; makes a database
and tenants of its own.
"""

import argparse
import asyncio
import gc
import os
import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
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
from scripts.bench.histogram import histogram, quantile
from scripts.bench.processors import Processors
from scripts.lab.own_data import database, internal_vhost
from scripts.lab.play import Play, SentBody

_WARM_SECONDS = 40.0
_FEW = 5  #: log batches in all queues: ingest keeps up
MATCHES, MARKETS = 1000, 20


class Figure(msgspec.Struct, frozen=True):
    """Milliseconds from line to consumer, and the reference's; envelopes a second to each tenant. The delays
    themselves, and those from when the lines had arrived."""

    what: str
    rate: float
    p50: float
    p99: float
    bare: float
    bare_p99: float
    delays: Sequence[float]
    accepted: Sequence[float]
    bare_delays: Sequence[float]

    def text(self) -> str:
        return (
            f"| {self.what} | {self.rate:.0f} | {self.p50:.0f} | {self.p99:.0f} | {self.bare:.1f} | "
            f"{self.bare_p99:.1f} | {self.p50 / self.bare:.1f}x |"
        )

    def histogram(self) -> str:
        return histogram(
            {"from due": self.delays, "from accepted": self.accepted, "bare message": self.bare_delays}
        )


class Measured(msgspec.Struct, frozen=True):
    """What has arrived within some seconds: delays since the lines had arrived (ms), by what lines of which
    match, and how long a bare message took."""

    seconds: float
    accepted: list[int]
    causes: list[tuple[bytes, int]]
    bare: list[float]


def forget(rig: Rig) -> float:
    """Begin to measure; the moment."""
    take(rig, 0.0)
    for consumer in rig.consumers:
        consumer.received = 0
    return time.perf_counter()


def take(rig: Rig, began: float) -> Measured:
    """What was measured since then. It is evaluated once nothing is measured any more: the servers and the
    consumers, which run in this process, would wait for it."""
    seconds, accepted, causes = time.perf_counter() - began, list[int](), list[tuple[bytes, int]]()
    for consumer in rig.consumers:
        accepted += consumer.delays
        causes += consumer.causes
        consumer.delays, consumer.causes = [], []
    bare, rig.probe.delays = rig.probe.delays, []
    return Measured(seconds, accepted, causes, bare)


def figure(found: Measured, what: str, tenants: int, sent: Mapping[str, Sequence[SentBody]]) -> Figure:
    """`sent` are the bodies of each match, by its name in the feed."""
    if not found.accepted:
        raise SystemExit(f"{what}: nothing has arrived")
    bodies = {
        urn.rpartition(":")[2].encode(): (
            [each.due for each in of_match],
            [each.answered for each in of_match],
        )
        for urn, of_match in sent.items()
    }
    waits = (waited(*bodies.get(match, ([], [])), arrived) for match, arrived in found.causes)
    delays = [delay + wait for delay, wait in zip(found.accepted, waits, strict=True)]
    return Figure(
        what,
        len(delays) / tenants / found.seconds,
        quantile(delays, 0.5),
        quantile(delays, 0.99),
        quantile(found.bare, 0.5),
        quantile(found.bare, 0.99),
        delays,
        found.accepted,
        found.bare,
    )


def waited(due: Sequence[float], answered: Sequence[float], arrived: int) -> float:
    """How long (ms) after they were due the lines of a match had arrived at that time (Unix ms), given when
    its bodies were due and answered, one after another; 0 where the body is not answered yet."""
    number = bisect_left(answered, arrived)
    return max(0.0, arrived - due[number]) if number < len(due) else 0.0


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
            began = forget(rig)
            busy = Processors(
                {**rig.pids, "servers and consumers": os.getpid()},
                {"database": own.database_url, "broker": own.rabbitmq_url},
            )
            await asyncio.sleep(seconds)
            cores, size = busy.cores(), sum(consumer.received for consumer in rig.consumers)
            idle = take(rig, began)
            began = forget(rig)
            took = await recovery(rig)
            during = take(rig, began)
    live = figure(idle, f"{tenants} tenants", tenants, play.bodies)
    print("| | envelopes/s | p50 ms | p99 ms | bare p50 ms | bare p99 ms | p50 to bare |")
    print(f"| --- | --- | --- | --- | --- | --- | --- |\n{live.text()}", flush=True)
    beside = figure(during, "during a recovery", tenants, play.bodies)
    print(
        f"{beside.text()}\n\nfull recovery of {MATCHES} matches with {MARKETS} markets each, and those in "
        f"play: {took:.2f} s to snapshot_complete; live p99 meanwhile {beside.p99 / live.p99:.2f}x\n"
    )
    print(costs(cores, live.rate, size / len(idle.accepted)))
    print(f"\n{live.histogram()}")


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
