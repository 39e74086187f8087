"""A soak: the whole service under a compressed day of trade.

    python -m scripts.soak [--minutes 15] [--tenants 20] [--matches 40] [--speed 3] [--seed 1]
                           [--plot docs/soak.svg]

Two web processes, ingest and feed; simulated matches with what goes wrong on servers, sent as logs; tenants
with the reference client's book, which disconnect and request recoveries at random; the feed and the ingest
process are ended twice each. At the end play stops, and every book must equal REST's and every settlement the
facts; fails with what does not. Samples go to `var/soak/samples.jsonl` as they come. Uses the servers that
the settings name, or starts its own, and makes a database, vhosts and tenants of its own, which it removes.
"""

import argparse
import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import msgspec

from app import settings as configuration
from app.sandbox.simulator.anomalies import RARE
from app.store.connections import open_store
from scripts import services
from scripts.bench.feed_rig import Playing, operator_key
from scripts.bench.own_data import database, internal_vhost
from scripts.soak import disruptions, plot, report, verdict
from scripts.soak.bookmakers import Bookmaker, bookmakers_of, new_customers
from scripts.soak.sampler import Sampler
from scripts.soak.soaked_service import SoakedService, open_service

SAMPLES = Path("var/soak/samples.jsonl")


async def trade(service: SoakedService, everyone: list[Bookmaker], options: argparse.Namespace) -> None:
    """The day itself: matches are played under all disruptions."""
    rng = Random(options.seed)
    restless = [
        asyncio.create_task(work)
        for work in (disruptions.client_disruptions(everyone, rng), disruptions.watch(service, everyone))
    ]
    breaking = asyncio.create_task(disruptions.restarts(service, options.minutes * 60))
    async with Playing(service.clients, options.matches, options.speed, anomalies=RARE):
        done, _ = await asyncio.wait(
            {*restless, breaking}, timeout=options.minutes * 60, return_when=asyncio.FIRST_EXCEPTION
        )
    for task in (*restless, breaking):
        task.cancel()
    for task in done:
        task.result()


async def main(options: argparse.Namespace) -> bool:
    base = configuration.load()
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(database(base.database_url))
        store = await stack.enter_async_context(await open_store(url, 4))
        settings = await stack.enter_async_context(
            internal_vhost(msgspec.structs.replace(base, database_url=url))
        )
        key = await operator_key(settings, store)
        made = await new_customers(settings, store, options.tenants, stack)
        service = await stack.enter_async_context(open_service(settings, key))
        everyone = await stack.enter_async_context(bookmakers_of(Bookmaker, made, settings.exchange, service))
        sampler = Sampler(service, everyone)
        watching = [
            asyncio.create_task(work) for work in (sampler.run(url, SAMPLES), report.progress(sampler))
        ]
        stack.callback(lambda: [task.cancel() for task in watching])
        await trade(service, everyone, options)
        wrong = await verdict.books(everyone)
        if watching[0].done():
            watching[0].result()
        found = await verdict.ledger(store)
        print(report.summary(sampler.samples, everyone, found, wrong), flush=True)
        if options.plot:
            plot.draw(sampler.samples, options.minutes * 60, options.plot)
        return not wrong and not found.wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--tenants", type=int, default=20)
    parser.add_argument("--matches", type=int, default=40, help="matches that are played at once")
    parser.add_argument("--speed", type=float, default=3.0, help="how many times as fast as real ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    with services.running(services.BENCHMARKS):
        passed = asyncio.run(main(arguments))
    raise SystemExit(0 if passed else 1)
