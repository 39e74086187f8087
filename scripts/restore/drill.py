"""The drill: play, a backup under load, more play, everything killed, restored elsewhere, and more play."""

import asyncio
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial

import msgspec

from app.settings import Settings
from app.store.connections import open_store
from scripts.lab.database_audit import LedgerAudit, audit_ledger
from scripts.lab.feed_client import FeedClient, different_books, opened_clients
from scripts.lab.operators import new_accounts, own_accounts
from scripts.lab.play import Play, play_on
from scripts.lab.record import ROOT
from scripts.lab.service import Service, open_service
from scripts.local_services.output import print_line
from scripts.local_services.postgresql import value
from scripts.local_services.processes import output_of
from scripts.restore import findings
from scripts.restore.backups import ARCHIVE_SECONDS, Backup
from scripts.restore.findings import Kept, Received

_PASSWORD = re.compile(r"^(\S+) has a new password: (\S+)$", re.MULTILINE)
_PATIENCE_SECONDS = 180.0
_WAITING = "SELECT count(*) FROM alert WHERE kind = 'database_restored' AND ended_at IS NULL"


class Plan(msgspec.Struct, frozen=True):
    """How many tenants and matches; how long is played before the backup, after it (which is lost), and after
    the restore, in seconds; how fast."""

    tenants: int
    matches: int
    before: float
    lost: float
    after: float
    speed: float


class Begun(msgspec.Struct, kw_only=True):
    """How the service began again; times in seconds. `followed` of so many `suspended` matches were followed
    again at the end."""

    restored_seconds: float
    notified_seconds: float
    recovered_seconds: float
    suspended: int
    followed: int


class Outcome(msgspec.Struct, kw_only=True):
    """What happened; times in seconds."""

    kept: Kept
    restore_seconds: float
    begun: Begun
    received: tuple[int, int]
    settlements: int
    ledger: LedgerAudit
    wrong: Sequence[str]


async def run(old: Settings, new: Settings, backup: Backup, plan: Plan) -> Outcome:
    """Run it. `old` and `new` are the settings before and after the restore; `new` has no database yet."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(await open_store(old.database_url, 2, session_name="drill"))
        accounts = await stack.enter_async_context(own_accounts(old))
        service = await stack.enter_async_context(open_service(old, store))
        accounts += await new_accounts(service.operators[0], "restore", plan.tenants)
        await service.until_healthy()
        client = partial(FeedClient, notify=print_line)
        everyone = await stack.enter_async_context(opened_clients(client, accounts, service.urls))
        async with Play() as play:
            play.run_lanes(service.operators, plan.matches, plan.speed)
            kept, seconds, url = await _until_restored(old, backup, service, plan)
            begun, received = await _begin_again(
                service, everyone, msgspec.structs.replace(new, database_url=url), plan
            )
        new_store = await stack.enter_async_context(await open_store(url, 2, session_name="drill"))
        wrong = [*kept.wrong, *(line for each in received for line in findings.numbers(each))]
        for each, got in zip(everyone, received, strict=True):
            wrong += await findings.resumed_stream(each.account, service.urls[0], got.highest)
        highest = max(each.highest for each in received)
        ids = await findings.new_settlements(everyone[0], highest)
        wrong += [f"ledger entry {each} after {highest}" for each in ids if each <= highest]
        wrong += await different_books(everyone)
        audited = await audit_ledger(new_store)
        return Outcome(
            kept=kept,
            restore_seconds=seconds,
            begun=begun,
            settlements=len(ids),
            received=(sum(len(each.before) for each in received), sum(len(each.after) for each in received)),
            ledger=audited,
            wrong=[*wrong, *audited.wrong],
        )


async def _until_restored(
    old: Settings, backup: Backup, service: Service, plan: Plan
) -> tuple[Kept, float, str]:
    """Play, back up, play on, kill everything, restore; what was kept, how long it took, the new database."""
    await play_on(plan.before, service.check)
    promised = await findings.committed(old.database_url)
    await backup.take()
    print_line(f"backed up in {backup.seconds:.1f} s, {backup.size / 2**20:.1f} MiB")
    await play_on(plan.lost / 2, service.check)
    await backup.mark_end()
    # What the archive does not have yet when everything is gone is lost in any case.
    await play_on(max(plan.lost / 2, 2 * ARCHIVE_SECONDS + 2), service.check)
    await service.kill_all()
    print_line("every process was killed")
    began = time.monotonic()
    url = await backup.restore()
    seconds = time.monotonic() - began
    return await findings.compare(old.database_url, url, promised), seconds, url


async def _begin_again(
    service: Service, everyone: Sequence[FeedClient], new: Settings, plan: Plan
) -> tuple[Begun, list[Received]]:
    """Restore what the database does not have, and play; and what each tenant received in all."""
    service.use(new)
    began = time.monotonic()
    report = await _matchfeed_restored(service)
    restored_seconds = time.monotonic() - began
    shown = _PASSWORD.sub(r"\1 has a new password", report)
    print_line(f"matchfeed restored, in {restored_seconds:.1f} s:\n{shown}")
    suspended = await value(new.database_url, _WAITING)
    urls, before = dict(_PASSWORD.findall(report)), [len(each.deliveries) for each in everyone]
    for each in everyone:
        if each.slug in urls:
            each.account.amqp_url = urls[each.slug]
            each.disconnect()

    def received() -> list[Received]:
        return [
            Received(each.slug, each.deliveries[:count], each.deliveries[count:])
            for each, count in zip(everyone, before, strict=True)
        ]

    began = time.monotonic()
    await service.start_all()
    notified = await _seconds_until(began, lambda: all(each.after for each in received()))
    recovered = await _seconds_until(
        began,
        lambda: all(each.complete for each in everyone) and all(map(_recovered, received())),
    )
    await play_on(plan.after, service.check)
    begun = Begun(
        restored_seconds=restored_seconds,
        notified_seconds=notified,
        recovered_seconds=recovered,
        suspended=suspended,
        followed=suspended - await value(new.database_url, _WAITING),
    )
    return begun, received()


async def _matchfeed_restored(service: Service) -> str:
    """Run it; its output. Raises `ServiceError` with how that ends when it fails."""
    command = [sys.executable, "-m", "app.cli", "restored"]
    environment = {**os.environ, **service.environment}
    return await asyncio.to_thread(
        output_of, "matchfeed restored", command, environment=environment, directory=ROOT
    )


def _recovered(each: Received) -> bool:
    return any(one.name == "snapshot_complete" for one in each.after)


async def _seconds_until(began: float, true: Callable[[], bool]) -> float:
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not true():
            await asyncio.sleep(0.1)
    return time.monotonic() - began
