"""Event-level requests: queued, first come first served, and in nobody's way."""

import asyncio
from uuid import UUID, uuid4

from app.domain.recovery import (
    MAX_ATTEMPTS,
    MAX_QUEUED,
    RecoveryJob,
    RecoveryKind,
    RecoveryRequest,
    RecoveryState,
)
from app.domain.tenant import Tenant
from app.store import recovery_jobs, tenants
from app.store.connections import Store
from tests.integration.recovery.test_slots import accepted, complete, fail, lease, request, take

MATCH = UUID(int=7)


def event(
    request_id: str = "", node_id: str | None = None, kind: RecoveryKind = RecoveryKind.EVENT_ODDS
) -> RecoveryRequest:
    return RecoveryRequest(kind, request_id, node_id=node_id, match_id=MATCH)


async def queue(store: Store, tenant_id: UUID, what: RecoveryRequest) -> RecoveryJob | None:
    async with store.transaction() as tx:
        return await recovery_jobs.queue(tx, tenant_id, what, 1_000, by="tester")


async def queued(store: Store, tenant_id: UUID, what: RecoveryRequest) -> RecoveryJob:
    job = await queue(store, tenant_id, what)
    assert job
    return job


async def run_one_at_a_time(store: Store, tenant_id: UUID) -> list[int]:
    """The ids of all jobs in the order in which they are run; fails if two run at a time."""
    ran = []
    while job := await take(store, tenant_id):
        assert await take(store, tenant_id, running=(job.id,)) is None, "one at a time"
        ran.append(job.id)
        assert await complete(store, job)
    return ran


async def test_neither_kind_of_request_waits_for_the_other(store: Store, tenant: Tenant) -> None:
    """A match that is never told does not keep everything from being told, on whichever node."""
    await lease(store)
    stuck = await queued(store, tenant.id, event("1"))
    running = await take(store, tenant.id)
    assert running and running.id == stuck.id
    for node_id in (None, "5"):
        whole = await accepted(store, tenant.id, request("2", node_id))
        await queued(store, tenant.id, event("3", node_id))
        taken = await take(store, tenant.id, running=(stuck.id,))
        assert taken and taken.id == whole.id
        assert await complete(store, taken)
        await accepted(store, tenant.id, request("4", node_id))
        taken = await take(store, tenant.id, running=(stuck.id,))
        assert taken and await complete(store, taken)


async def test_first_come_first_served_one_at_a_time(store: Store, tenant: Tenant) -> None:
    await lease(store)
    kinds = (RecoveryKind.EVENT_ODDS, RecoveryKind.EVENT_STATEFUL)
    wanted = [
        (await queued(store, tenant.id, event(str(n), str(n % 3 + 1), kinds[n % 2]))).id for n in range(1, 7)
    ]
    assert await run_one_at_a_time(store, tenant.id) == wanted


async def test_the_next_one_runs_when_one_has_failed_for_good(store: Store, tenant: Tenant) -> None:
    await lease(store)
    await queued(store, tenant.id, event("1"))
    second = await queued(store, tenant.id, event("2"))
    for attempt in range(1, MAX_ATTEMPTS + 1):
        job = await take(store, tenant.id)
        assert job and (job.request.request_id, job.attempts) == ("1", attempt)
        last = await fail(store, job)
    assert last is RecoveryState.FAILED
    job = await take(store, tenant.id)
    assert job and job.id == second.id


async def test_one_tenant_waits_for_no_other(store: Store, tenant: Tenant) -> None:
    other = Tenant(uuid4(), "beta", "Beta", amqp=True)
    async with store.transaction() as tx:
        await tenants.insert(tx, other, 0)
    await lease(store)
    for tenant_id in (tenant.id, other.id):
        await queued(store, tenant_id, event("1"))
        assert await take(store, tenant_id)


async def test_the_same_request_again_is_the_same_recovery(store: Store, tenant: Tenant) -> None:
    """Clients that take nothing but 200 for an answer send each request three times."""
    first = await queued(store, tenant.id, event("1", "5"))
    again = await asyncio.gather(*(queued(store, tenant.id, event("1", "5")) for _ in range(3)))
    assert {job.id for job in again} == {first.id}
    others = [event("2", "5"), event("1", "6"), event("1", "5", RecoveryKind.EVENT_STATEFUL)]
    assert len({(await queued(store, tenant.id, each)).id for each in others} - {first.id}) == 3


async def test_requests_of_one_moment_are_given_ids_of_their_own(store: Store, tenant: Tenant) -> None:
    made = await asyncio.gather(*(queued(store, tenant.id, event()) for _ in range(5)))
    assert len({job.request.request_id for job in made}) == 5
    assert all(int(job.request.request_id) > 0 for job in made)


async def test_so_many_may_wait_and_no_more(store: Store, tenant: Tenant) -> None:
    await lease(store)
    outcomes = await asyncio.gather(*(queue(store, tenant.id, event()) for _ in range(MAX_QUEUED + 4)))
    assert sum(job is None for job in outcomes) == 4
    job = await take(store, tenant.id)
    assert job and await complete(store, job)
    await queued(store, tenant.id, event())
    assert await queue(store, tenant.id, event()) is None


async def test_what_the_broker_did_not_take_is_tried_for_as_long_as_a_slot_would_last(
    store: Store, tenant: Tenant
) -> None:
    await lease(store)
    async with store.transaction() as tx:
        now = await tx.value("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        await recovery_jobs.queue(tx, tenant.id, event("1"), now, by="tester")
    for _ in range(MAX_ATTEMPTS + 1):
        async with store.transaction() as tx:
            job = await recovery_jobs.claim(tx, "feed-1", [tenant.id], (), now)
        assert job and await fail(store, job, excused=True) is RecoveryState.SCHEDULED
        async with store.transaction() as tx:
            await tx.execute("UPDATE recovery_job SET due_at = 0")
    async with store.transaction() as tx:
        await tx.execute("UPDATE recovery_job SET started_at = 1")
        job = await recovery_jobs.claim(tx, "feed-1", [tenant.id], (), now)
    assert job and await fail(store, job, excused=True) is RecoveryState.FAILED
