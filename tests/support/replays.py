"""Replays as a tenant starts them, and how they end."""

from collections.abc import Sequence

from app.domain.match import Match
from app.domain.replay import ReplayJob, ReplayOptions
from app.domain.tenant import Tenant
from app.kit.clock import system_clock
from app.replay.request import ReplayService
from app.store import changes, replay_jobs
from app.store.connections import Store
from tests.support.eventually import eventually

#: As fast as it goes.
FAST = ReplayOptions(max_delay=0)


def service(store: Store) -> ReplayService:
    """Accepts requests as the web process does."""
    return ReplayService(store, system_clock)


async def replay(
    store: Store,
    tenant: Tenant,
    listed: Sequence[Match],
    options: ReplayOptions = FAST,
    node: str | None = None,
) -> ReplayJob:
    """Start to replay these matches, and nothing else, for the node."""
    replays = service(store)
    await replays.clear(tenant, node)
    for match in listed:
        await replays.add(tenant, node, str(match.id), finished_only=False)
    return await replays.play(tenant, node, options, by="tester")


async def present(store: Store, job: ReplayJob) -> ReplayJob:
    """The replay as it is now."""
    async with store.autocommit() as tx:
        found = await replay_jobs.newest(tx, job.tenant_id, job.node)
    assert found
    return found


async def ended(store: Store, job: ReplayJob) -> ReplayJob:
    """The replay once it has come to an end."""

    async def look() -> ReplayJob:
        return await present(store, job)

    return await eventually(look, lambda seen: not seen.open, 60)


async def prune_all(store: Store) -> int:
    """Prune the change log but for its last envelope; how many changes are kept by that."""
    pruned = 0
    while True:
        async with store.transaction() as tx:
            page = await changes.prune(tx, 2**62, 500)
        if not page:
            return pruned
        pruned += page
