"""Event-level requests: queued, first come first served, and in nobody's way."""

import asyncio

from app.domain.recovery import MAX_ATTEMPTS, MAX_QUEUED, RecoveryKind, RecoveryState
from app.store import recovery_jobs
from tests.integration.recovery.conftest import create_tenant
from tests.integration.recovery.jobs import HOLDER, Jobs, event, request


async def test_neither_kind_of_request_waits_for_the_other(jobs: Jobs) -> None:
    """A match that is never told does not keep everything from being told, on whichever node."""
    stuck = await jobs.queued(event("1"))
    assert (await jobs.taken()).id == stuck.id
    for node_id in (None, "5"):
        whole = await jobs.accepted(request("2", node_id))
        await jobs.queued(event("3", node_id))
        taken = await jobs.taken(stuck.id)
        assert taken.id == whole.id
        assert await jobs.complete(taken)
        await jobs.accepted(request("4", node_id))
        assert await jobs.complete(await jobs.taken(stuck.id))


async def test_first_come_first_served_one_at_a_time(jobs: Jobs) -> None:
    kinds = (RecoveryKind.EVENT_ODDS, RecoveryKind.EVENT_STATEFUL)
    wanted = [(await jobs.queued(event(str(n), str(n % 3 + 1), kinds[n % 2]))).id for n in range(1, 7)]
    assert await jobs.run_one_at_a_time() == wanted


async def test_the_next_one_runs_when_one_has_failed_for_good(jobs: Jobs) -> None:
    await jobs.queued(event("1"))
    second = await jobs.queued(event("2"))
    for attempt in range(1, MAX_ATTEMPTS + 1):
        job = await jobs.taken()
        assert (job.request.request_id, job.attempts) == ("1", attempt)
        last = await jobs.fail(job)
    assert last is RecoveryState.FAILED
    assert (await jobs.taken()).id == second.id


async def test_one_tenant_waits_for_no_other(jobs: Jobs) -> None:
    other = await create_tenant(jobs.store, "beta")
    await jobs.lease()
    for each in (jobs, Jobs(jobs.store, other.id)):
        await each.queued(event("1"))
        await each.taken()


async def test_the_same_request_again_is_the_same_recovery(jobs: Jobs) -> None:
    """Clients that take nothing but 200 for an answer send each request three times."""
    first = await jobs.queued(event("1", "5"))
    again = await asyncio.gather(*(jobs.queued(event("1", "5")) for _ in range(3)))
    assert {job.id for job in again} == {first.id}
    others = [event("2", "5"), event("1", "6"), event("1", "5", RecoveryKind.EVENT_STATEFUL)]
    assert len({(await jobs.queued(each)).id for each in others} - {first.id}) == 3


async def test_requests_of_one_moment_are_given_ids_of_their_own(jobs: Jobs) -> None:
    made = await asyncio.gather(*(jobs.queued(event()) for _ in range(5)))
    assert len({job.request.request_id for job in made}) == 5
    assert all(int(job.request.request_id) > 0 for job in made)


async def test_so_many_may_wait_and_no_more(jobs: Jobs) -> None:
    for _ in range(MAX_QUEUED - 4):
        await jobs.queued(event())
    outcomes = await asyncio.gather(*(jobs.queue(event()) for _ in range(8)))
    assert sum(job is None for job in outcomes) == 4
    assert await jobs.complete(await jobs.taken())
    await jobs.queued(event())
    assert await jobs.queue(event()) is None


async def test_what_the_broker_did_not_take_is_tried_for_as_long_as_a_slot_would_last(jobs: Jobs) -> None:
    tenant_id = jobs.tenant_id
    async with jobs.store.transaction() as tx:
        now = await tx.value("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        await recovery_jobs.queue(tx, tenant_id, event("1"), now, by="tester")
    for _ in range(MAX_ATTEMPTS + 1):
        async with jobs.store.transaction() as tx:
            job = await recovery_jobs.claim(tx, HOLDER, [tenant_id], (), now)
        assert job and await jobs.fail(job, excused=True) is RecoveryState.SCHEDULED
        async with jobs.store.transaction() as tx:
            await tx.execute("UPDATE recovery_job SET due_at = 0")
    async with jobs.store.transaction() as tx:
        await tx.execute("UPDATE recovery_job SET started_at = 1")
        job = await recovery_jobs.claim(tx, HOLDER, [tenant_id], (), now)
    assert job and await jobs.fail(job, excused=True) is RecoveryState.FAILED
