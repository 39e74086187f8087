"""Recoveries as a tenant requests them, and how they end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.domain.match import Match
from app.domain.recovery import RecoveryJob, RecoveryKind, RecoveryState
from app.domain.tenant import Tenant
from app.kit.clock import system_clock
from app.recovery.request import RecoveryParameters, RecoveryService
from app.store import matches, recovery_jobs
from app.store.connections import Store
from tests.support.eventually import eventually

WINDOW = 4320 * 60_000


def service(store: Store) -> RecoveryService:
    """Accepts requests as the web process does."""
    return RecoveryService(store, system_clock, WINDOW)


async def recover(
    store: Store,
    tenant: Tenant,
    request_id: str | None,
    *,
    after: int = 0,
    node_id: str | None = None,
    kind: RecoveryKind = RecoveryKind.REST_FULL,
    match: Match | None = None,
) -> RecoveryJob:
    """Ask for a recovery of everything, or of a match; a small `after` counts from the window's edge, to
    which it is raised."""
    now = system_clock()
    parameters = RecoveryParameters(str(max(after, now - WINDOW) if after else 0), request_id, node_id)
    ref = str(match.id) if match else None
    return await service(store).accept(tenant, kind, parameters, ref, by="tester")


async def ended(store: Store, job: RecoveryJob) -> RecoveryJob:
    """The job once it has come to an end."""

    async def look() -> RecoveryJob:
        async with store.autocommit() as tx:
            found = await recovery_jobs.find(tx, job.tenant_id, job.request.request_id, job.request.node_id)
        assert found
        return found

    return await eventually(
        look, lambda seen: seen.state in (RecoveryState.COMPLETED, RecoveryState.FAILED), 60
    )


@asynccontextmanager
async def held_up(store: Store, match: Match) -> AsyncIterator[None]:
    """Nobody reads this match under its lock meanwhile, so that a replay stops before it."""
    async with store.transaction() as tx:
        await tx.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        await matches.lock(tx, match.id)
        yield
