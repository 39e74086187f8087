"""A dump, restored as another database, with a broker that lost users and vhosts: `matchfeed restored`."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from app.broker import provisioning
from app.domain.match import Match
from app.settings import Settings
from app.store import matches
from app.store.connections import Store, open_store
from scripts.restore.backups import Dump
from tests.faults.rig import Consumer, Rig, consuming, rigged, until
from tests.support import databases
from tests.support.processes import ROOT, environment

_TIMESTAMP = re.compile(rb' timestamp="(\d+)"')


@asynccontextmanager
async def dropped(url: str) -> AsyncIterator[Store]:
    """A store on this database, which is dropped afterwards."""
    try:
        async with await open_store(url, 2) as store:
            yield store
    finally:
        await databases.drop(url, urlsplit(url).path.lstrip("/"))


async def restored(settings: Settings) -> tuple[int, str]:
    """The command's exit status and output."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "app.cli", "restored"),
        cwd=ROOT,
        env=environment(settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()


def timestamps(consumer: Consumer) -> list[int]:
    return [int(found[1]) for got in consumer.live if (found := _TIMESTAMP.search(got.body))]


async def published_and_backed_up(rig: Rig, url: str, backup: Dump) -> Consumer:
    """What a tenant received before the backup and after it, until everything was gone."""
    process = await rig.feed()
    async with consuming(url, rig.settings.exchange) as consumer:
        await until("alive", lambda: consumer.alives)
        match = await rig.match()
        await rig.write_changes(match, 20)
        await backup.take()
        lost = await rig.write_changes(match, 20)
        await until("everything is published", lambda: consumer.seqs >= set(lost))
        await process.kill()
    return consumer


async def first_match(store: Store) -> Match:
    async with store.autocommit() as tx:
        found = await matches.find(tx, "od:match:1")
    assert found
    return found


async def test_tenants_recover_and_no_number_means_two_things(rig: Rig, tmp_path: Path) -> None:
    tenant, url = await rig.tenant()
    backup = Dump(rig.settings.database_url, tmp_path)
    before = await published_and_backed_up(rig, url, backup)
    await provisioning.deprovision(rig.management, tenant.slug)
    # The internal queues are shared by tests that run beside this one.
    settings = msgspec.structs.replace(
        rig.settings, database_url=await backup.restore(), rabbitmq_internal_vhost=f"{tenant.slug}-internal"
    )
    async with dropped(settings.database_url) as store:
        status, output = await restored(settings)
        assert status == 1 and "session on the database" in output and "Stop every" in output
        await store.close()
        status, output = await restored(settings)
        assert status == 0, output
        [new_url] = re.findall(rf"^{tenant.slug} has a new password: (\S+)$", output, re.MULTILINE)
        after = await received_again(settings, new_url, tmp_path)
    assert b'subscribed="0"' in after.got[0].body
    assert min(after.seqs) > max(before.seqs)
    assert min(timestamps(after)) > max(timestamps(before))
    assert after.live[0].prev and after.live[0].prev > max(before.seqs)
    assert {got.message_id for got in after.live}.isdisjoint(got.message_id for got in before.live)


async def received_again(settings: Settings, url: str, directory: Path) -> Consumer:
    """What the tenant receives from a process on the restored database."""
    directory = directory / "again"
    directory.mkdir()
    async with (
        await open_store(settings.database_url, 2) as store,
        rigged(settings, store, directory) as rig,
        consuming(url, settings.exchange) as consumer,
    ):
        await rig.feed()
        await until("notified", lambda: consumer.downs)
        written = await rig.write_changes(await first_match(store), 5)
        await until("live again", lambda: consumer.seqs >= set(written))
    return consumer
