"""kill -9 of relay, replayer and ingest at random points: MATCHFEED_FAULT_SEEDS seeds, 1 by default."""

import asyncio
import os
import random
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.domain.recovery import RecoveryJob, RecoveryKind
from app.settings import Settings
from app.store.connections import Store
from tests.faults import fold
from tests.faults.rig import Consumer, Rig, consuming, until
from tests.support import real_match
from tests.support.agreement import check_all
from tests.support.life import Life, Living
from tests.support.processes import started
from tests.support.queues import private_vhost
from tests.support.recoveries import ended, recover
from tests.support.story import Story
from tests.support.web import issuing, serving

SEEDS = int(os.environ.get("MATCHFEED_FAULT_SEEDS", "1"))
KILLS = 2
KINDS = (RecoveryKind.REST_FULL, RecoveryKind.FACADE_FULL)


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_kills_of_the_feed(rig: Rig, store: Store, seed: int) -> None:
    """Relay and replayer are one process; recoveries are requested while it is killed and started again."""
    chance, jobs = random.Random(seed), []
    async with AsyncExitStack() as stack:
        tenant, url = await rig.tenant()
        _, other_url = await rig.tenant()
        consumers = [
            await stack.enter_async_context(consuming(each, rig.settings.exchange))
            for each in (url, other_url)
        ]
        process = await rig.feed()
        await until("alive", lambda: all(each.alives for each in consumers), 60)
        living = Living(Life(Story(store), seed))
        await living.more(10)
        for number in range(KILLS):
            node, kind = str(number + 1), chance.choice(KINDS)
            jobs.append(await recover(store, tenant, "7", after=1, node_id=node, kind=kind))
            await asyncio.sleep(chance.uniform(0, 0.5))
            await process.kill()
            process = await rig.feed()
            if chance.random() < 0.5:
                await until(
                    "it serves tenants", lambda process=process: process.logged("serving a tenant"), 60
                )
            await done(store, jobs) if chance.random() < 0.5 else None
        await done(store, jobs)
        await living.end()
        await check(consumers, store)
    print(f"seed {seed}: repeated {[each.repeats for each in consumers]} of {len(consumers[0].seqs)}")
    assert all(each.repeats <= KILLS * rig.settings.feed_window for each in consumers)


async def done(store: Store, jobs: list[RecoveryJob]) -> None:
    """Every recovery completes, and its slot is free for the next one."""
    for job in jobs:
        assert (await ended(store, job)).state == "completed"


async def check(consumers: list[Consumer], store: Store) -> None:
    everything = await fold.everything(store)
    await until("all has arrived", lambda: all(each.seqs >= everything for each in consumers), 60)
    ledger = await fold.ledger_of(store)
    for each in consumers:
        fold.check(each, ledger)
        assert each.seqs == everything, "something was invented"


@pytest.mark.parametrize("seed", range(-(-SEEDS // 10)))
async def test_kills_of_ingest(
    settings: Settings, store: Store, real_log: str, tmp_path: Path, seed: int
) -> None:
    """A real match is played while its worker is killed again and again: every line counts once."""
    chance, issue = random.Random(seed), issuing(store, settings.secret_key)
    key = await issue(bundles=("cs2.operator",), rate_limit_rpm=60_000)
    patient = replace(settings, fresh_millis=600_000)  # however late, everything is offered
    async with private_vhost(patient) as private, serving(private) as client:
        match = await real_match.create(client, key, real_log)
        for _ in range(KILLS):
            async with started("ingest", private, tmp_path) as ingest:
                for _ in range(chance.randrange(5, 40)):
                    await match.send(until="")
                await asyncio.sleep(chance.uniform(0, 2))
                await ingest.kill()
        async with started("ingest", private, tmp_path):
            await match.send()
            await check_all(store, match, real_log)
