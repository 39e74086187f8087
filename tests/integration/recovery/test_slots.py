"""A slot is held by one request at a time, frees itself, and is freed only by its present holder."""

import asyncio

from app.domain.recovery import MAX_ATTEMPTS, RecoveryInFlight, RecoveryJob, RecoveryState
from app.domain.tenant import Tenant
from app.store import recovery_jobs
from app.store.connections import Store
from tests.integration.recovery.conftest import create_tenant
from tests.integration.recovery.jobs import Jobs, request


async def test_the_second_request_hears_of_the_first(jobs: Jobs) -> None:
    await jobs.accepted(request("7", after=5))
    busy = await jobs.refused_for(request("8"))
    assert (busy.request_id, busy.after, busy.accepted_at) == ("7", 5, 1_000)
    assert 0 < busy.remaining <= 60_000


async def test_of_many_at_once_one_is_accepted(jobs: Jobs) -> None:
    outcomes = await asyncio.gather(*(jobs.accept(request(str(n))) for n in range(1, 9)))
    (winner,) = [each for each in outcomes if isinstance(each, RecoveryJob)]
    others = [each for each in outcomes if isinstance(each, RecoveryInFlight)]
    assert {each.request_id for each in others} == {winner.request.request_id}


async def test_nodes_and_tenants_have_slots_of_their_own(jobs: Jobs) -> None:
    other = await create_tenant(jobs.store, "beta")
    for each in (jobs, Jobs(jobs.store, other.id)):
        for node_id in (None, "1", "2"):
            await each.accepted(request(node_id=node_id))


async def test_an_expired_slot_is_taken_and_its_old_holder_cannot_free_it(jobs: Jobs) -> None:
    old = await jobs.accepted(request("7"), lifetime=0)
    running = await jobs.taken()
    new = await jobs.accepted(request("8"))
    assert running.id == old.id and new.token == old.token + 1
    assert await jobs.complete(running)
    assert (await jobs.refused_for(request("9"))).request_id == "8"


async def test_completion_frees_the_slot(jobs: Jobs) -> None:
    await jobs.accepted(request("7"))
    job = await jobs.taken()
    assert await jobs.complete(job)
    assert not await jobs.complete(job), "it has ended already"
    await jobs.accepted(request("7"))


async def test_only_the_tenants_holder_takes_its_jobs(store: Store, tenant: Tenant) -> None:
    jobs = Jobs(store, tenant.id)
    await jobs.accepted(request())
    assert await jobs.take() is None
    await jobs.lease()
    assert await jobs.take(holder="feed-2") is None
    job = await jobs.taken()
    assert job.attempts == 1
    assert await jobs.take(job.id) is None


async def test_a_lost_run_is_begun_again_and_can_write_nothing_more(jobs: Jobs) -> None:
    await jobs.accepted(request())
    lost = await jobs.taken()
    await jobs.lease("feed-2")
    again = await jobs.taken(holder="feed-2")
    assert (again.id, again.attempts) == (lost.id, 2)
    async with jobs.store.transaction() as tx:
        assert not await recovery_jobs.progress(tx, lost, 9, 9, 9)
        assert await recovery_jobs.progress(tx, again, 4, 1, 20)
    assert not await jobs.complete(lost)
    assert await jobs.complete(again)


async def test_after_its_attempts_a_job_has_failed(jobs: Jobs) -> None:
    await jobs.accepted(request("7"))
    states = [await jobs.fail(await jobs.taken()) for _ in range(MAX_ATTEMPTS)]
    assert states == [RecoveryState.SCHEDULED] * (MAX_ATTEMPTS - 1) + [RecoveryState.FAILED]
    assert await jobs.take() is None
    async with jobs.store.autocommit() as tx:
        seen = await recovery_jobs.find(tx, jobs.tenant_id, "7")
    assert seen and (seen.state, seen.error) == (RecoveryState.FAILED, "the reason")
    await jobs.accepted(request("8"))


async def test_what_the_broker_did_not_take_is_tried_for_as_long_as_the_job_has_its_slot(jobs: Jobs) -> None:
    await jobs.accepted(request("7"))
    for attempt in range(1, 2 * MAX_ATTEMPTS):
        job = await jobs.taken()
        assert job.attempts == attempt
        assert await jobs.fail(job, excused=True) is RecoveryState.SCHEDULED
    job = await jobs.taken()
    async with jobs.store.transaction() as tx:
        await tx.execute("UPDATE recovery_slot SET expires_at = 0")
    assert await jobs.fail(job, excused=True) is RecoveryState.FAILED


async def test_a_job_that_ended_its_processes_is_begun_seldom(jobs: Jobs) -> None:
    await jobs.accepted(request("7"))
    for _ in range(MAX_ATTEMPTS + 1):
        await jobs.taken()
    assert await jobs.take() is None


async def test_a_failed_run_waits_before_the_next(jobs: Jobs) -> None:
    await jobs.accepted(request())
    assert await jobs.fail(await jobs.taken(), pause=60_000) is RecoveryState.SCHEDULED
    assert await jobs.take() is None


async def test_slots_of_nodes_that_are_not_used_any_more_go_with_their_jobs(jobs: Jobs) -> None:
    for node in range(1, 6):
        await jobs.accepted(request(node_id=str(node)), lifetime=0)
        assert await jobs.complete(await jobs.taken())
    later = 3_000 + 8 * 86_400_000
    async with jobs.store.transaction() as tx:
        for node_id in (None, "9"):
            what = request(node_id=node_id)
            await recovery_jobs.accept(tx, jobs.tenant_id, what, later, 60_000, by="tester")
        left = {row["node"] for row in await tx.fetch("SELECT node FROM recovery_slot")}
    assert left == {"global", "9"}
