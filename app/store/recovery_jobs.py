"""Recovery jobs and the slots that they hold.

A slot is a lock with an end and a rising token: taken by whoever finds it expired, freed only by the
holder of its present token. Event-level requests take no slot: they are queued, and run one at a time for
each tenant, in the order in which they were accepted. Ends and due times are the database's, so that
processes on machines with different clocks agree; `now` (ms) is what clients are shown. A job is run by the
feed process that holds its tenant's lease (see `cursors`); what another process wrote in a lost run is void
by `attempts`.
"""

from collections.abc import Collection
from itertools import count
from uuid import UUID

from msgspec.structs import replace

from app.domain.recovery import (
    IMPLICIT_SLOT,
    MAX_ATTEMPTS,
    MAX_QUEUED,
    SLOT_MILLIS,
    RecoveryInFlight,
    RecoveryJob,
    RecoveryKind,
    RecoveryRequest,
    RecoveryState,
)
from app.store import notifications
from app.store.sql import NOW
from app.store.transaction import Row, Tx

CHANNEL = "recovery"  #: NOTIFY channel: a job waits; the payload is the tenant's id

_TAKE_SLOT = f"""
INSERT INTO recovery_slot AS slot (tenant_id, node, token, expires_at) VALUES ($1, $2, 1, {NOW} + $3::bigint)
ON CONFLICT (tenant_id, node) DO UPDATE SET token = slot.token + 1, expires_at = excluded.expires_at
WHERE slot.expires_at <= {NOW}
RETURNING token
"""
_FREE_SLOT = "UPDATE recovery_slot SET expires_at = 0 WHERE tenant_id = $1 AND node = $2 AND token = $3"
_IN_FLIGHT = f"""
SELECT j.request_id, j.kind, j.after, j.scheduled_at, greatest(0, s.expires_at - {NOW}) AS remaining,
    j.steps > 0 AND j.steps_done >= j.steps - 1 AS ending
FROM recovery_slot s
JOIN recovery_job j ON j.tenant_id = s.tenant_id AND coalesce(j.node_id, $3) = s.node AND j.token = s.token
WHERE s.tenant_id = $1 AND s.node = $2
"""
_COLUMNS = """j.id, j.tenant_id, j.kind, j.request_id, j.after, j.node_id, j.of_match, j.token, j.state,
    j.scheduled_at, j.started_at, j.finished_at, j.attempts, j.steps, j.steps_done, j.envelopes, j.error"""
_INSERT = f"""
INSERT INTO recovery_job AS j
    (tenant_id, kind, request_id, after, node_id, of_match, token, state, scheduled_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, '{RecoveryState.SCHEDULED}', $8)
RETURNING {_COLUMNS}
"""
_SLOW_MILLIS = 60_000  #: a run that may take its process with it, as those before did, begins so seldom
_KEPT_MILLIS = 7 * 86_400_000
_FORGET = "DELETE FROM recovery_job WHERE tenant_id = $1 AND finished_at < $2"
#: Of slots that nobody holds, those without a job: tokens need to rise as long as a job knows one.
_DROP_SLOTS = f"""
DELETE FROM recovery_slot s WHERE tenant_id = $1 AND expires_at <= {NOW} AND NOT EXISTS (
    SELECT FROM recovery_job j WHERE j.tenant_id = $1 AND coalesce(j.node_id, $2) = s.node
)
"""
_OPEN = f"state IN ('{RecoveryState.SCHEDULED}', '{RecoveryState.RUNNING}')"
_NO_SLOT = 0  #: the token of event-level requests; slots count from 1
_NEW_IDS_MILLIS = 1_000  #: an id that was made for a request is not made again so soon
_LOCK_TENANT = "SELECT id FROM tenant WHERE id = $1 FOR NO KEY UPDATE"
_QUEUED = f"""
SELECT {_COLUMNS} FROM recovery_job j
WHERE j.tenant_id = $1 AND j.of_match IS NOT NULL AND (j.{_OPEN} OR j.scheduled_at >= $2) ORDER BY j.id
"""
_TAKE = f"""
UPDATE recovery_job j SET state = '{RecoveryState.RUNNING}', holder = $1, attempts = attempts + 1,
    due_at = CASE WHEN attempts < {MAX_ATTEMPTS} THEN due_at ELSE {NOW} + {_SLOW_MILLIS} END,
    started_at = coalesce(started_at, $2), steps = 0, steps_done = 0, envelopes = 0
WHERE j.id = (
    SELECT w.id FROM recovery_job w
    JOIN tenant_cursor c ON c.tenant_id = w.tenant_id AND c.holder = $1 AND c.expires_at >= {NOW}
    WHERE w.{_OPEN} AND w.due_at <= {NOW} AND w.tenant_id = ANY ($3::uuid[]) AND w.id <> ALL ($4::bigint[])
        AND (w.of_match IS NULL OR NOT EXISTS (
            SELECT FROM recovery_job e
            WHERE e.tenant_id = w.tenant_id AND e.of_match IS NOT NULL AND e.{_OPEN} AND e.id < w.id
        ))
    ORDER BY w.id LIMIT 1 FOR UPDATE OF w SKIP LOCKED
)
RETURNING {_COLUMNS}
"""
_TIMELY = f"""
SELECT EXISTS (
    SELECT FROM recovery_slot WHERE tenant_id = $1 AND node = $2 AND token = $3 AND expires_at > {NOW}
)
"""
_MINE = f"id = $1 AND attempts = $2 AND state = '{RecoveryState.RUNNING}'"
_PROGRESS = f"UPDATE recovery_job SET steps = $3, steps_done = $4, envelopes = $5 WHERE {_MINE}"
_POSTPONE = f"""
UPDATE recovery_job SET
    state = '{RecoveryState.SCHEDULED}', holder = NULL, error = $3, due_at = {NOW} + $4::bigint
WHERE {_MINE}
"""
_END = f"""
UPDATE recovery_job SET state = $3, holder = NULL, error = $4, finished_at = $5,
    steps_done = CASE WHEN $3 = '{RecoveryState.COMPLETED}' THEN steps ELSE steps_done END
WHERE {_MINE}
"""


async def accept(
    tx: Tx, tenant_id: UUID, request: RecoveryRequest, now: int, lifetime: int = SLOT_MILLIS
) -> RecoveryJob | RecoveryInFlight:
    """Take the slot for `lifetime` ms and write the job, or answer what is in flight there.

    Two that ask at once wait for each other: the second one sees what became of the first. Jobs that ended
    a week ago are forgotten.
    """
    token = await tx.value(_TAKE_SLOT, tenant_id, request.slot, lifetime)
    if token is None:
        return await _in_flight(tx, tenant_id, request)
    return await _write(tx, tenant_id, request, token, now)


async def queue(tx: Tx, tenant_id: UUID, request: RecoveryRequest, now: int) -> RecoveryJob | None:
    """Write the job of an event-level request, which waits for those of its tenant that were accepted before
    it, and for nothing else. A request that is queued or run already is that job. None where `MAX_QUEUED`
    of the tenant's wait or run.
    """
    await tx.execute(_LOCK_TENANT, tenant_id)
    recent = [_job(row) for row in await tx.fetch(_QUEUED, tenant_id, now - _NEW_IDS_MILLIS)]
    waiting = [job for job in recent if job.state in (RecoveryState.SCHEDULED, RecoveryState.RUNNING)]
    for job in waiting:
        if job.request == request:
            return job
    if len(waiting) >= MAX_QUEUED:
        return None
    if not request.request_id:
        used = {job.request.request_id for job in recent}
        request = replace(request, request_id=next(str(n) for n in count(now) if str(n) not in used))
    return await _write(tx, tenant_id, request, _NO_SLOT, now)


async def _write(tx: Tx, tenant_id: UUID, request: RecoveryRequest, token: int, now: int) -> RecoveryJob:
    await tx.execute(_FORGET, tenant_id, now - _KEPT_MILLIS)
    (row,) = await tx.fetch(
        _INSERT,
        tenant_id,
        request.kind,
        request.request_id,
        request.after,
        request.node_id,
        request.match_id,
        token,
        now,
    )
    await tx.execute(_DROP_SLOTS, tenant_id, IMPLICIT_SLOT)
    await notifications.notify(tx, CHANNEL, str(tenant_id))
    return _job(row)


async def claim(
    tx: Tx, holder: str, tenants: Collection[UUID], running: Collection[int], now: int
) -> RecoveryJob | None:
    """The longest waiting job of `tenants`, of which `holder` must hold the lease, as its new run; None
    when none is due. An event-level one is due when all that its tenant requested before it have ended.
    `running` are the ids that this process works on already: any other one that was begun was lost with its
    process, or by it."""
    row = await tx.row(_TAKE, holder, now, list(tenants), list(running))
    return _job(row) if row else None


async def progress(tx: Tx, job: RecoveryJob, steps: int, done: int, envelopes: int) -> bool:
    """Keep how far this run has come; False when it is not the job's run any more."""
    return bool(await tx.execute(_PROGRESS, job.id, job.attempts, steps, done, envelopes))


async def complete(tx: Tx, job: RecoveryJob, now: int) -> bool:
    """The job is done: free its slot, if it still has it. False when this run is not the job's any more."""
    return await _end(tx, job, RecoveryState.COMPLETED, "", now)


async def fail(
    tx: Tx, job: RecoveryJob, error: str, pause: int, now: int, *, excused: bool = False, final: bool = False
) -> RecoveryState:
    """This run went wrong: run the job again after `pause` ms, or give it up for good when it has had its
    attempts, or another would be of no use (`final`). The job's state then. A run is `excused` that could not
    be told for reasons outside the job: it is not the job's last one while the job has its slot."""
    if final or (job.attempts >= MAX_ATTEMPTS and not (excused and await holds_slot(tx, job))):
        await _end(tx, job, RecoveryState.FAILED, error, now)
        return RecoveryState.FAILED
    await tx.execute(_POSTPONE, job.id, job.attempts, error, pause)
    return RecoveryState.SCHEDULED


async def holds_slot(tx: Tx, job: RecoveryJob) -> bool:
    """Whether the job has its slot still; for an event-level one, which has none, as long a time since its
    first run began."""
    if job.request.match_id is not None and job.token == _NO_SLOT:
        ends = (job.started_at or job.scheduled_at) + SLOT_MILLIS
        return bool(await tx.value(f"SELECT $1::bigint > {NOW}", ends))
    kept: bool = await tx.value(_TIMELY, job.tenant_id, job.request.slot, job.token)
    return kept


async def find(tx: Tx, tenant_id: UUID, request_id: str, node_id: str | None = None) -> RecoveryJob | None:
    """The tenant's newest job with that request id (and node id, unless None)."""
    row = await tx.row(
        f"""
        SELECT {_COLUMNS} FROM recovery_job j
        WHERE j.tenant_id = $1 AND j.request_id = $2 AND ($3::text IS NULL OR j.node_id = $3)
        ORDER BY j.id DESC LIMIT 1
        """,
        tenant_id,
        request_id,
        node_id,
    )
    return _job(row) if row else None


async def _end(tx: Tx, job: RecoveryJob, state: RecoveryState, error: str, now: int) -> bool:
    ended = await tx.execute(_END, job.id, job.attempts, state, error, now)
    if ended:
        await tx.execute(_FREE_SLOT, job.tenant_id, job.request.slot, job.token)
    return bool(ended)


async def _in_flight(tx: Tx, tenant_id: UUID, request: RecoveryRequest) -> RecoveryInFlight:
    row = await tx.row(_IN_FLIGHT, tenant_id, request.slot, IMPLICIT_SLOT)
    if row is None:
        raise LookupError(f"slot {request.slot!r} of tenant {tenant_id} is held by no job")
    return RecoveryInFlight(**dict(row) | {"kind": RecoveryKind(row["kind"])})


def _job(row: Row) -> RecoveryJob:
    request = RecoveryRequest(
        RecoveryKind(row["kind"]), row["request_id"], row["after"], row["node_id"], row["of_match"]
    )
    told = {"kind", "request_id", "after", "node_id", "of_match", "state"}
    return RecoveryJob(
        request=request,
        state=RecoveryState(row["state"]),
        **{name: value for name, value in row.items() if name not in told},
    )
