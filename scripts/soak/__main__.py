"""A soak: the whole service under a compressed day of trade.

    python -m scripts.soak [--minutes 15] [--tenants 20] [--matches 40] [--speed 3] [--seed 1]
                           [--plot docs/soak.svg]

Two web processes, ingest and feed; simulated matches with what goes wrong on servers, sent as logs; tenants
with the reference client's book, which disconnect and request recoveries at random; copies by changes and by
the stream, and requests for combinations, cash outs, claims, replays and everything that is read; people of
tenants at the portal and traders at the console. Each response is checked. Every two minutes two faults
overlap, drawn from the seed: a process ended, killed or stopped, or connections to the database, to Redis or
to the broker closed. At the end play stops, and every book and copy must equal REST's, every settlement the
facts, and the signed ledger must pass the verifier that tenants use; fails with what does not. Samples go to
`var/soak/samples.jsonl` as they come. Uses the servers that the settings name, or starts its own, and makes a
database, vhosts and tenants of its own, which it removes.
"""

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from app import settings as configuration
from app.sandbox.simulator.anomalies import RARE
from app.store.connections import open_store
from scripts import services
from scripts.lab.database_audit import audit_ledger
from scripts.lab.feed_client import FeedClient, different_books, log_no_lost_connections, opened_clients
from scripts.lab.local_faults import Breakage, FaultRecord, pairs
from scripts.lab.operators import new_accounts, own_accounts
from scripts.lab.own_data import database, internal_vhost
from scripts.lab.people import Visitor, everybody
from scripts.lab.person import Visits
from scripts.lab.play import Play
from scripts.lab.service import Service, open_service
from scripts.lab.signed_ledger import verify_ledger
from scripts.lab.tenant_clients import Requests, tenant_clients
from scripts.local_services.output import print_line
from scripts.soak import report
from scripts.soak.sampler import Sampler

SAMPLES = Path("var/soak/samples.jsonl")
_DISCONNECT_SECONDS, _RECOVERY_SECONDS = 30.0, 45.0  #: seconds between two of them, in the mean


async def disrupt(everyone: Sequence[FeedClient], rng: Random) -> None:
    """Bookmakers disconnect, or request a recovery, at random, without end."""

    async def disconnects() -> None:
        while True:
            await asyncio.sleep(rng.expovariate(1 / _DISCONNECT_SECONDS))
            rng.choice(everyone).disconnect()

    async def recoveries() -> None:
        while True:
            await asyncio.sleep(rng.expovariate(1 / _RECOVERY_SECONDS))
            rng.choice(everyone).recover()

    await asyncio.gather(disconnects(), recoveries())


async def watch(
    service: Service, everyone: Sequence[FeedClient], play: Play, measuring: Sequence[asyncio.Task[None]]
) -> None:
    """Raise as soon as a process, a bookmaker, a game server or a measurement has ended by itself."""
    while True:
        await asyncio.sleep(1)
        service.check()
        play.check()
        for each in everyone:
            each.check()
        for task in measuring:
            if task.done():
                task.result()


async def trade(
    service: Service,
    everyone: Sequence[FeedClient],
    people: Sequence[Visitor | Requests],
    breakage: Breakage,
    record: FaultRecord,
    measuring: Sequence[asyncio.Task[None]],
    options: argparse.Namespace,
) -> None:
    """The day itself: matches are played under all disruptions, while people and clients watch and trade."""
    rng, seconds = Random(options.seed), options.minutes * 60
    async with Play() as play, asyncio.TaskGroup() as group:
        play.run_lanes(service.operators, options.matches, options.speed, RARE)
        endless = [
            group.create_task(disrupt(everyone, rng)),
            group.create_task(watch(service, everyone, play, measuring)),
        ]
        visits = [group.create_task(each.use()) for each in people]
        await breakage.run(pairs(options.seed, seconds))
        await asyncio.sleep(max(0.0, seconds - record.now()))
        for each in people:
            each.leave()
        await asyncio.gather(*visits)
        for task in endless:
            task.cancel()


async def main(options: argparse.Namespace) -> bool:
    log_no_lost_connections("matchfeed_client")
    async with AsyncExitStack() as stack:
        settings = await stack.enter_async_context(database(configuration.load()))
        url = settings.database_url
        store = await stack.enter_async_context(await open_store(url, 4, session_name="soak"))
        settings = await stack.enter_async_context(internal_vhost(settings))
        settings = replace(settings, files_directory=stack.enter_context(TemporaryDirectory()))
        accounts = await stack.enter_async_context(own_accounts(settings))
        service = await stack.enter_async_context(open_service(settings, store))
        accounts += await new_accounts(service.operators[0], "soak", options.tenants)
        await service.until_healthy()
        client = partial(FeedClient, recording=False, notify=print_line)
        everyone = await stack.enter_async_context(opened_clients(client, accounts, service.urls))
        record = FaultRecord()
        people = await stack.enter_async_context(
            everybody(settings, store, accounts, service, record, options.seed)
        )
        visits = Visits()
        copies, requests = await stack.enter_async_context(
            tenant_clients(accounts, service.operators, record, visits, options.seed)
        )
        vhosts = [settings.rabbitmq_internal_vhost, *(account.slug for account in accounts)]
        sampler = Sampler(service, everyone, record, {"database": url, "broker": settings.rabbitmq_url})
        following = [each.follow() for each in copies]
        watching = [
            asyncio.create_task(work)
            for work in (
                sampler.run(SAMPLES),
                sampler.watch_stalls(),
                report.progress(sampler),
                *following,
            )
        ]
        stack.callback(lambda: [task.cancel() for task in watching])
        breakage = Breakage(service, settings, vhosts, record)
        await trade(service, everyone, [*people, *requests], breakage, record, watching, options)
        wrong = await different_books(everyone)
        wrong += [text for each in copies if (text := await each.differences())]
        for task in watching:
            if task.done():
                task.result()
        verified, faultless = await verify_ledger(service.urls[0], accounts[0].key)
        found = await audit_ledger(store)
        print(report.summary(sampler.samples, everyone, found, wrong), flush=True)
        print(report.faults(record.happened), flush=True)
        print(report.visits(people[0].person.visits, len(people)), flush=True)
        print(report.clients(visits, copies), flush=True)
        print(f"signed ledger: {verified}", flush=True)
        if options.plot:
            report.draw(sampler.samples, record.happened, options.plot)
        return not wrong and not found.wrong and faultless


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
