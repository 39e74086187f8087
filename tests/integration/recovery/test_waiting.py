"""Full recoveries that wait for their slot: each runs, one at a time for a node, in order of acceptance."""

import asyncio

from app.domain.recovery import RecoveryInFlight, RecoveryJob, RecoveryKind, RecoveryState
from app.domain.tenant import Tenant
from app.kit.errors import Conflict
from app.recovery.request import RecoveryParameters, RecoveryService
from app.store import recovery_jobs
from app.store.connections import Store
from app.wire.xml.dialect import SDK, SPECIFICATION, Dialect
from tests.integration.recovery.test_queue import event, queued, run_one_at_a_time
from tests.integration.recovery.test_slots import accept, accepted, complete, fail, lease, request, take

DIALECTS = (SDK, SPECIFICATION)


async def test_each_runs_one_at_a_time(store: Store, tenant: Tenant) -> None:
    await lease(store)
    wanted = [(await queued(store, tenant.id, request(str(n), "5"))).id for n in range(1, 6)]
    assert await run_one_at_a_time(store, tenant.id) == wanted


async def test_nodes_do_not_wait_for_each_other(store: Store, tenant: Tenant) -> None:
    await lease(store)
    jobs = [await queued(store, tenant.id, request("1", node_id)) for node_id in (None, "5", "6")]
    running: list[int] = []
    while job := await take(store, tenant.id, running=tuple(running)):
        running.append(job.id)
    assert running == [job.id for job in jobs]


async def test_one_that_waits_runs_after_the_holder_of_the_slot(store: Store, tenant: Tenant) -> None:
    """Whatever address the holder came by, and however it ends: completed, or with its slot expired."""
    await lease(store)
    for lifetime in (60_000, 0):
        holder = await accepted(store, tenant.id, request("1"), lifetime)
        waiting = await queued(store, tenant.id, request("2"))
        running = await take(store, tenant.id)
        assert running and running.id == holder.id
        if lifetime:
            assert await take(store, tenant.id, running=(holder.id,)) is None
            assert await complete(store, running)
        next_job = await take(store, tenant.id, running=(holder.id,))
        assert next_job and next_job.id == waiting.id
        assert next_job.token == running.token + 1, "it has a slot of its own"
        assert await complete(store, next_job)


async def test_the_slot_is_held_while_it_is_run_again(store: Store, tenant: Tenant) -> None:
    await lease(store)
    await queued(store, tenant.id, request("1"))
    await queued(store, tenant.id, request("2"))
    first = await take(store, tenant.id)
    assert first and await fail(store, first) is RecoveryState.SCHEDULED
    again = await take(store, tenant.id)
    assert again and (again.id, again.token, again.attempts) == (first.id, first.token, 2)


async def test_what_waits_is_in_flight_for_those_who_do_not(store: Store, tenant: Tenant) -> None:
    """The specification's lock: a request that is not queued is refused for one that waits or runs, of its
    own node only."""
    await lease(store)
    await queued(store, tenant.id, request("1", "5"))
    present = await accept(store, tenant.id, request("2", "5"))
    assert isinstance(present, RecoveryInFlight) and present.request_id == "1" and present.remaining > 0
    assert isinstance(await accept(store, tenant.id, request("2", "6")), RecoveryJob)
    job = await take(store, tenant.id)
    assert job and job.request.request_id == "1"
    present = await accept(store, tenant.id, request("2", "5"))
    assert isinstance(present, RecoveryInFlight) and present.request_id == "1"
    assert await complete(store, job)
    assert isinstance(await accept(store, tenant.id, request("2", "5")), RecoveryJob)


async def test_waiting_ones_delay_no_event_recovery(store: Store, tenant: Tenant) -> None:
    await lease(store)
    for number in (1, 2):
        await queued(store, tenant.id, request(str(number)))
    wanted = await queued(store, tenant.id, event("3"))
    running = await take(store, tenant.id)
    assert running
    job = await take(store, tenant.id, running=(running.id,))
    assert job and job.id == wanted.id


async def test_many_clients_at_once(store: Store, tenant: Tenant) -> None:
    """Requests for two nodes from all sides, each repeated, some not queued, while jobs run: each that is
    accepted runs exactly once, and no two of one node at the same time."""
    await lease(store)
    service = RecoveryService(store, lambda: 1_000, 60_000)
    running: dict[int, str | None] = {}
    ran: list[int] = []

    async def ask(dialect: Dialect, request_id: int, node_id: str) -> int | None:
        parameters = RecoveryParameters(None, str(request_id), node_id)
        try:
            job = await service.accept(
                tenant, RecoveryKind.FACADE_FULL, parameters, by="tester", dialect=dialect
            )
        except Conflict:
            return None
        return job.id

    async def run(job: RecoveryJob) -> None:
        assert job.request.node_id not in running.values(), "two of one node at once"
        running[job.id] = job.request.node_id
        assert await complete(store, job)
        ran.append(job.id)
        del running[job.id]

    wanted = [(dialect, n, node_id) for n in range(1, 9) for node_id in ("5", "6") for dialect in DIALECTS]
    asking = asyncio.gather(*(ask(*each) for each in wanted * 2))
    async with asyncio.TaskGroup() as group:
        while not asking.done() or set(asking.result()) - {None, *ran}:
            async with store.transaction() as tx:
                job = await recovery_jobs.claim(tx, "feed-1", [tenant.id], list(running), 2_000)
            if job:
                group.create_task(run(job))
    assert len(set(ran)) == len(ran) >= len(wanted) // len(DIALECTS)


async def test_a_request_is_repeated_until_it_has_ended_and_then_runs_again(
    store: Store, tenant: Tenant
) -> None:
    """Some clients have one request id for all their recoveries."""
    await lease(store)
    first = await queued(store, tenant.id, request("7"))
    running = await take(store, tenant.id)
    assert running and (await queued(store, tenant.id, request("7"))).id == first.id
    assert await complete(store, running)
    again = await queued(store, tenant.id, request("7"))
    assert again.id > first.id
    job = await take(store, tenant.id)
    assert job and job.id == again.id


async def test_a_request_at_the_end_of_its_own_replay_runs_again(
    store: Store, tenant: Tenant, recoveries: RecoveryService
) -> None:
    """The client has `snapshot_complete`; that the job is completed, the service records a moment later."""
    await lease(store)
    parameters = RecoveryParameters(None, "7", "5")

    async def ask() -> RecoveryJob:
        return await recoveries.accept(tenant, RecoveryKind.FACADE_FULL, parameters, by="tester", dialect=SDK)

    first = await ask()
    job = await take(store, tenant.id)
    assert job
    async with store.autocommit() as tx:
        assert await recovery_jobs.progress(tx, job, 2, 1, 1)
    repeated = asyncio.create_task(ask())
    await asyncio.sleep(0)
    assert await complete(store, job)
    assert (await repeated).id > first.id
