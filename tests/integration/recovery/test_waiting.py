"""Full recoveries that wait for their slot: each runs, one at a time for a node, in order of acceptance."""

import asyncio

from app.domain.recovery import RecoveryJob, RecoveryKind, RecoveryState
from app.domain.tenant import Tenant
from app.kit.errors import Conflict
from app.recovery.request import RecoveryParameters, RecoveryService
from app.store import recovery_jobs
from app.wire.xml.dialect import SDK, SPECIFICATION, Dialect
from tests.integration.recovery.jobs import HOLDER, Jobs, event, request

DIALECTS = (SDK, SPECIFICATION)


async def test_each_runs_one_at_a_time(jobs: Jobs) -> None:
    wanted = [(await jobs.queued(request(str(n), "5"))).id for n in range(1, 6)]
    assert await jobs.run_one_at_a_time() == wanted


async def test_nodes_do_not_wait_for_each_other(jobs: Jobs) -> None:
    wanted = [(await jobs.queued(request("1", node_id))).id for node_id in (None, "5", "6")]
    running: list[int] = []
    while job := await jobs.take(*running):
        running.append(job.id)
    assert running == wanted


async def test_one_that_waits_runs_after_the_holder_of_the_slot(jobs: Jobs) -> None:
    """Whatever address the holder came by, and however it ends: completed, or with its slot expired."""
    for lifetime in (60_000, 0):
        holder = await jobs.accepted(request("1"), lifetime)
        waiting = await jobs.queued(request("2"))
        running = await jobs.taken()
        assert running.id == holder.id
        if lifetime:
            assert await jobs.take(holder.id) is None
            assert await jobs.complete(running)
        next_job = await jobs.taken(holder.id)
        assert next_job.id == waiting.id
        assert next_job.token == running.token + 1, "it has a slot of its own"
        assert await jobs.complete(next_job)


async def test_the_slot_is_held_while_it_is_run_again(jobs: Jobs) -> None:
    await jobs.queued(request("1"))
    await jobs.queued(request("2"))
    first = await jobs.taken()
    assert await jobs.fail(first) is RecoveryState.SCHEDULED
    again = await jobs.taken()
    assert (again.id, again.token, again.attempts) == (first.id, first.token, 2)


async def test_what_waits_is_in_flight_for_those_who_do_not(jobs: Jobs) -> None:
    """The specification's lock: a request that is not queued is refused for one that waits or runs, of its
    own node only."""
    await jobs.queued(request("1", "5"))
    present = await jobs.refused_for(request("2", "5"))
    assert present.request_id == "1" and present.remaining > 0
    await jobs.accepted(request("2", "6"))
    job = await jobs.taken()
    assert job.request.request_id == "1"
    assert (await jobs.refused_for(request("2", "5"))).request_id == "1"
    assert await jobs.complete(job)
    await jobs.accepted(request("2", "5"))


async def test_waiting_ones_delay_no_event_recovery(jobs: Jobs) -> None:
    for number in (1, 2):
        await jobs.queued(request(str(number)))
    wanted = await jobs.queued(event("3"))
    running = await jobs.taken()
    assert (await jobs.taken(running.id)).id == wanted.id


async def test_many_clients_at_once(jobs: Jobs, tenant: Tenant) -> None:
    """Requests for two nodes from all sides, each repeated, some not queued, while jobs run: each that is
    accepted runs exactly once, and no two of one node at the same time."""
    service = RecoveryService(jobs.store, lambda: 1_000, 60_000)
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
        assert await jobs.complete(job)
        ran.append(job.id)
        del running[job.id]

    wanted = [(dialect, n, node_id) for n in range(1, 9) for node_id in ("5", "6") for dialect in DIALECTS]
    asking = asyncio.gather(*(ask(*each) for each in wanted * 2))
    async with asyncio.TaskGroup() as group:
        while not asking.done() or set(asking.result()) - {None, *ran}:
            async with jobs.store.transaction() as tx:  # `run` begins meanwhile
                job = await recovery_jobs.claim(tx, HOLDER, [tenant.id], list(running), 2_000)
            if job:
                group.create_task(run(job))
    assert len(set(ran)) == len(ran) >= len(wanted) // len(DIALECTS)


async def test_a_request_is_repeated_until_it_has_ended_and_then_runs_again(jobs: Jobs) -> None:
    """Some clients have one request id for all their recoveries."""
    first = await jobs.queued(request("7"))
    running = await jobs.taken()
    assert (await jobs.queued(request("7"))).id == first.id
    assert await jobs.complete(running)
    again = await jobs.queued(request("7"))
    assert again.id > first.id
    assert (await jobs.taken()).id == again.id


async def test_a_request_at_the_end_of_its_own_replay_runs_again(
    jobs: Jobs, tenant: Tenant, recoveries: RecoveryService
) -> None:
    """The client has `snapshot_complete`; that the job is completed, the service records a moment later."""
    parameters = RecoveryParameters(None, "7", "5")

    async def ask() -> RecoveryJob:
        return await recoveries.accept(tenant, RecoveryKind.FACADE_FULL, parameters, by="tester", dialect=SDK)

    first = await ask()
    job = await jobs.taken()
    async with jobs.store.autocommit() as tx:
        assert await recovery_jobs.progress(tx, job, 2, 1, 1)
    repeated = asyncio.create_task(ask())
    await asyncio.sleep(0)
    assert await jobs.complete(job)
    assert (await repeated).id > first.id
