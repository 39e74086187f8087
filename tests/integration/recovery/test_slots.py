"""A slot is held by one request at a time, frees itself, and is freed only by its present holder."""

import asyncio
from uuid import UUID, uuid4

from app.domain.recovery import (
    MAX_ATTEMPTS,
    RecoveryInFlight,
    RecoveryJob,
    RecoveryKind,
    RecoveryRequest,
    RecoveryState,
)
from app.domain.tenant import Tenant
from app.store import cursors, recovery_jobs, tenants
from app.store.connections import Store

HOLDER = "feed-1"


def request(request_id: str = "7", node_id: str | None = None, after: int = 0) -> RecoveryRequest:
    return RecoveryRequest(RecoveryKind.REST_FULL, request_id, after, node_id)


async def accept(
    store: Store, tenant_id: UUID, what: RecoveryRequest, lifetime: int = 60_000
) -> RecoveryJob | RecoveryInFlight:
    async with store.transaction() as tx:
        return await recovery_jobs.accept(tx, tenant_id, what, 1_000, lifetime, by="tester")


async def accepted(
    store: Store, tenant_id: UUID, what: RecoveryRequest, lifetime: int = 60_000
) -> RecoveryJob:
    job = await accept(store, tenant_id, what, lifetime)
    assert isinstance(job, RecoveryJob)
    return job


async def lease(store: Store, holder: str = HOLDER) -> None:
    """Make `holder` the one who tells every tenant."""
    async with store.transaction() as tx:
        await cursors.create_missing(tx)
        await tx.execute("UPDATE tenant_cursor SET holder = NULL")
        await cursors.acquire(tx, holder, 10, 60_000)


async def take(
    store: Store, tenant_id: UUID, holder: str = HOLDER, running: tuple[int, ...] = ()
) -> RecoveryJob | None:
    async with store.transaction() as tx:
        return await recovery_jobs.claim(tx, holder, [tenant_id], running, 2_000)


async def complete(store: Store, job: RecoveryJob) -> bool:
    async with store.transaction() as tx:
        return await recovery_jobs.complete(tx, job, 3_000)


async def fail(store: Store, job: RecoveryJob, pause: int = 0, *, excused: bool = False) -> RecoveryState:
    async with store.transaction() as tx:
        return await recovery_jobs.fail(tx, job, "the reason", pause, 3_000, excused=excused)


async def test_the_second_request_hears_of_the_first(store: Store, tenant: Tenant) -> None:
    await accepted(store, tenant.id, request("7", after=5))
    busy = await accept(store, tenant.id, request("8"))
    assert isinstance(busy, RecoveryInFlight)
    assert (busy.request_id, busy.after, busy.accepted_at) == ("7", 5, 1_000)
    assert 0 < busy.remaining <= 60_000


async def test_an_event_level_recovery_of_the_former_version_holds_the_slot(
    store: Store, tenant: Tenant
) -> None:
    """A process of 0.1.0 beside ours gave those a slot."""
    held = await accepted(store, tenant.id, request("7"))
    async with store.transaction() as tx:
        query = "UPDATE recovery_job SET kind = 'event_odds', of_match = $2 WHERE id = $1"
        await tx.execute(query, held.id, uuid4())
    busy = await accept(store, tenant.id, request("8"))
    assert isinstance(busy, RecoveryInFlight)
    assert (busy.request_id, busy.kind) == ("7", RecoveryKind.EVENT_ODDS)


async def test_of_many_at_once_one_is_accepted(store: Store, tenant: Tenant) -> None:
    outcomes = await asyncio.gather(*(accept(store, tenant.id, request(str(n))) for n in range(1, 9)))
    (winner,) = [each for each in outcomes if isinstance(each, RecoveryJob)]
    others = [each for each in outcomes if isinstance(each, RecoveryInFlight)]
    assert {each.request_id for each in others} == {winner.request.request_id}


async def test_nodes_and_tenants_have_slots_of_their_own(store: Store, tenant: Tenant) -> None:
    other = Tenant(uuid4(), "beta", "Beta", amqp=True)
    async with store.transaction() as tx:
        await tenants.insert(tx, other, 0)
    for tenant_id in (tenant.id, other.id):
        for node_id in (None, "1", "2"):
            await accepted(store, tenant_id, request(node_id=node_id))


async def test_an_expired_slot_is_taken_and_its_old_holder_cannot_free_it(
    store: Store, tenant: Tenant
) -> None:
    await lease(store)
    old = await accepted(store, tenant.id, request("7"), lifetime=0)
    running = await take(store, tenant.id)
    new = await accepted(store, tenant.id, request("8"))
    assert running and running.id == old.id and new.token == old.token + 1
    assert await complete(store, running)
    busy = await accept(store, tenant.id, request("9"))
    assert isinstance(busy, RecoveryInFlight) and busy.request_id == "8"


async def test_completion_frees_the_slot(store: Store, tenant: Tenant) -> None:
    await lease(store)
    await accepted(store, tenant.id, request("7"))
    job = await take(store, tenant.id)
    assert job and await complete(store, job)
    assert not await complete(store, job), "it has ended already"
    await accepted(store, tenant.id, request("7"))


async def test_only_the_tenants_holder_takes_its_jobs(store: Store, tenant: Tenant) -> None:
    await accepted(store, tenant.id, request())
    assert await take(store, tenant.id) is None
    await lease(store)
    assert await take(store, tenant.id, "feed-2") is None
    job = await take(store, tenant.id)
    assert job and job.attempts == 1
    assert await take(store, tenant.id, running=(job.id,)) is None


async def test_a_lost_run_is_begun_again_and_can_write_nothing_more(store: Store, tenant: Tenant) -> None:
    await lease(store)
    await accepted(store, tenant.id, request())
    lost = await take(store, tenant.id)
    await lease(store, "feed-2")
    again = await take(store, tenant.id, "feed-2")
    assert lost and again and (again.id, again.attempts) == (lost.id, 2)
    async with store.transaction() as tx:
        assert not await recovery_jobs.progress(tx, lost, 9, 9, 9)
        assert await recovery_jobs.progress(tx, again, 4, 1, 20)
    assert not await complete(store, lost)
    assert await complete(store, again)


async def test_after_its_attempts_a_job_has_failed(store: Store, tenant: Tenant) -> None:
    await lease(store)
    await accepted(store, tenant.id, request("7"))
    states = []
    for _ in range(MAX_ATTEMPTS):
        job = await take(store, tenant.id)
        assert job
        states.append(await fail(store, job))
    assert states == [RecoveryState.SCHEDULED] * (MAX_ATTEMPTS - 1) + [RecoveryState.FAILED]
    assert await take(store, tenant.id) is None
    async with store.autocommit() as tx:
        seen = await recovery_jobs.find(tx, tenant.id, "7")
    assert seen and (seen.state, seen.error) == (RecoveryState.FAILED, "the reason")
    await accepted(store, tenant.id, request("8"))


async def test_what_the_broker_did_not_take_is_tried_for_as_long_as_the_job_has_its_slot(
    store: Store, tenant: Tenant
) -> None:
    await lease(store)
    await accepted(store, tenant.id, request("7"))
    for attempt in range(1, 2 * MAX_ATTEMPTS):
        job = await take(store, tenant.id)
        assert job and job.attempts == attempt
        assert await fail(store, job, excused=True) is RecoveryState.SCHEDULED
    job = await take(store, tenant.id)
    assert job
    async with store.transaction() as tx:
        await tx.execute("UPDATE recovery_slot SET expires_at = 0")
    assert await fail(store, job, excused=True) is RecoveryState.FAILED


async def test_a_job_that_ended_its_processes_is_begun_seldom(store: Store, tenant: Tenant) -> None:
    await lease(store)
    await accepted(store, tenant.id, request("7"))
    for _ in range(MAX_ATTEMPTS + 1):
        assert await take(store, tenant.id)
    assert await take(store, tenant.id) is None


async def test_a_failed_run_waits_before_the_next(store: Store, tenant: Tenant) -> None:
    await lease(store)
    await accepted(store, tenant.id, request())
    job = await take(store, tenant.id)
    assert job and await fail(store, job, pause=60_000) is RecoveryState.SCHEDULED
    assert await take(store, tenant.id) is None


async def test_slots_of_nodes_that_are_not_used_any_more_go_with_their_jobs(
    store: Store, tenant: Tenant
) -> None:
    await lease(store)
    for node in range(1, 6):
        job = await accepted(store, tenant.id, request(node_id=str(node)), lifetime=0)
        taken = await take(store, tenant.id)
        assert taken and await complete(store, taken), job
    async with store.transaction() as tx:
        await recovery_jobs.accept(tx, tenant.id, request(), 3_000 + 8 * 86_400_000, 60_000, by="tester")
        await recovery_jobs.accept(
            tx, tenant.id, request(node_id="9"), 3_000 + 8 * 86_400_000, 60_000, by="tester"
        )
        left = {row["node"] for row in await tx.fetch("SELECT node FROM recovery_slot")}
    assert left == {"global", "9"}
