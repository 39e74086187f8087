"""A soak: the whole service under a compressed day of trade.

    python -m scripts.soak [--minutes 15] [--tenants 20] [--matches 40] [--speed 3] [--seed 1]
                           [--plot docs/soak.svg]

Two web processes, ingest and feed; simulated matches with what goes wrong on servers, sent as logs; tenants
with the reference client's book, who hang up and doubt at random; the feed and the ingest process are ended
twice each. At the end play stops, and every book must equal REST's and every settlement the facts; fails with
what does not. Samples go to `var/soak/samples.jsonl` as they come. Uses the servers that the settings lead
to, or starts its own, and makes a database, vhosts and tenants of its own, which it removes.
"""

import argparse
import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import msgspec

from app import settings as configuration
from app.access import admin
from app.access.properties import KeyProperties
from app.broker.management import Management
from app.sandbox.simulator.anomalies import RARE
from app.settings import Settings
from app.store.connections import Store, open_store
from scripts import services
from scripts.bench.feed_rig import Playing, database, internal_vhost, operator_key, provisioned
from scripts.soak import day, plot, report, verdict
from scripts.soak.bookmakers import Bookmaker, Customer, listening
from scripts.soak.gauges import Gauges
from scripts.soak.house import House, open_house

SAMPLES = Path("var/soak/samples.jsonl")
_RIGHTS = KeyProperties(bundles=("cs2.odds.basic",), rate_limit_rpm=100_000)


async def customers(settings: Settings, store: Store, count: int, stack: AsyncExitStack) -> list[Customer]:
    """New tenants, which are told over AMQP and have a key."""
    management = await stack.enter_async_context(Management(settings.rabbitmq_api_url))
    made = []
    for _ in range(count):
        slug, url = await provisioned(settings, store, management, stack)
        async with store.transaction() as tx:
            issued = await admin.issue_key(tx, slug, _RIGHTS, secret=settings.secret_key, by="soak", now=1)
        made.append(Customer(slug, url, issued.raw))
    return made


async def trade(house: House, everyone: list[Bookmaker], told: argparse.Namespace) -> None:
    """The day itself: matches are played, and what goes wrong goes wrong."""
    rng = Random(told.seed)
    restless = [asyncio.create_task(work) for work in (day.moods(everyone, rng), day.watch(house, everyone))]
    breaking = asyncio.create_task(day.restarts(house, told.minutes * 60))
    async with Playing(house.clients, told.matches, told.speed, anomalies=RARE):
        done, _ = await asyncio.wait(
            {*restless, breaking}, timeout=told.minutes * 60, return_when=asyncio.FIRST_EXCEPTION
        )
    for task in (*restless, breaking):
        task.cancel()
    for task in done:
        task.result()


async def main(told: argparse.Namespace) -> bool:
    base = configuration.load()
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(database(base.database_url))
        store = await stack.enter_async_context(await open_store(url, 4))
        settings = await stack.enter_async_context(
            internal_vhost(msgspec.structs.replace(base, database_url=url))
        )
        key = await operator_key(settings, store)
        made = await customers(settings, store, told.tenants, stack)
        house = await stack.enter_async_context(open_house(settings, key))
        everyone = await stack.enter_async_context(listening(made, settings.exchange, house))
        gauges = Gauges(house, everyone)
        watching = [asyncio.create_task(work) for work in (gauges.run(url, SAMPLES), report.progress(gauges))]
        stack.callback(lambda: [task.cancel() for task in watching])
        await trade(house, everyone, told)
        wrong = await verdict.books(everyone)
        if watching[0].done():
            watching[0].result()
        found = await verdict.ledger(store)
        print(report.summary(gauges.samples, everyone, found, wrong), flush=True)
        if told.plot:
            plot.draw(gauges.samples, told.minutes * 60, told.plot)
        return not wrong and not found.wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--tenants", type=int, default=20)
    parser.add_argument("--matches", type=int, default=40, help="matches that are played at once")
    parser.add_argument("--speed", type=float, default=3.0, help="how many times as fast as real ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path)
    asked = parser.parse_args()
    with services.running(services.BENCHMARKS):
        well = asyncio.run(main(asked))
    raise SystemExit(0 if well else 1)
