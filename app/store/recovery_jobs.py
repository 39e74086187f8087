"""Recovery jobs and the slots that they hold.

A slot is a lock with an expiry and a rising token: it is acquired when it has expired, and released only by
the holder of its present token. A request may also be queued: full ones then wait for the slot, which they
acquire when they are run, and event-level ones, which need none, for each other; both in the order of
acceptance. Expiries and due times use the database's clock, so that processes on machines with different
clocks agree; `now` (ms) is what clients see. A job is run by the feed process that holds its tenant's lease
(see `cursors`). Writes of a superseded run are rejected by comparing `attempts`.
"""

from collections.abc import Collection
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

_NO_SLOT = 0  #: the token of jobs without a slot; slots count from 1


def _node(job: str) -> str:
    """The node whose slot a full job needs; `job` is an alias of the table of jobs, here and below."""
    return f"coalesce({job}.node_id, '{IMPLICIT_SLOT}')"


def _wants_slot(job: str) -> str:
    """Whether it is a full job that has never had a slot."""
    return f"({job}.of_match IS NULL AND {job}.token = {_NO_SLOT})"


_TAKE_OVER = f"""
ON CONFLICT (tenant_id, node) DO UPDATE SET token = slot.token + 1, expires_at = excluded.expires_at
WHERE slot.expires_at <= {NOW}
RETURNING token
"""
_ACQUIRE_SLOT = f"""
INSERT INTO recovery_slot AS slot (tenant_id, node, token, expires_at) VALUES ($1, $2, 1, {NOW} + $3::bigint)
{_TAKE_OVER}
"""
_RELEASE_SLOT = "UPDATE recovery_slot SET expires_at = 0 WHERE tenant_id = $1 AND node = $2 AND token = $3"
_COLUMNS = """j.id, j.tenant_id, j.kind, j.request_id, j.after, j.node_id, j.of_match, j.token, j.state,
    j.scheduled_at AS accepted_at, j.started_at, j.finished_at, j.attempts, j.steps, j.steps_done,
    j.envelopes, j.error"""
_INSERT = f"""
INSERT INTO recovery_job AS j
    (tenant_id, kind, request_id, after, node_id, of_match, token, state, scheduled_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, '{RecoveryState.SCHEDULED}', $8)
RETURNING {_COLUMNS}
"""
_SLOW_MILLIS = 60_000  #: the pause before each further run: earlier ones may have crashed the process
_STORED_MILLIS = 7 * 86_400_000
_DELETE_OLD = "DELETE FROM recovery_job WHERE tenant_id = $1 AND finished_at < $2"
#: Expired slots without a job: while a job has a token, the slot's must keep rising.
_DELETE_UNUSED_SLOTS = f"""
DELETE FROM recovery_slot s WHERE tenant_id = $1 AND expires_at <= {NOW} AND NOT EXISTS (
    SELECT FROM recovery_job j WHERE j.tenant_id = $1 AND coalesce(j.node_id, $2) = s.node
)
"""
_OPEN = f"state IN ('{RecoveryState.SCHEDULED}', '{RecoveryState.RUNNING}')"
_LOCK_TENANT = "SELECT id FROM tenant WHERE id = $1 FOR NO KEY UPDATE"
_WITHOUT_SLOT = f"""
SELECT count(*) FROM recovery_job j WHERE j.tenant_id = $1 AND j.token = {_NO_SLOT} AND j.{_OPEN}
"""
_WAITING = f"{_WITHOUT_SLOT} AND {_wants_slot('j')} AND {_node('j')} = $2"
_IS_USED = "SELECT EXISTS (SELECT FROM recovery_job WHERE tenant_id = $1 AND request_id = $2)"
_SAME = f"""
SELECT {_COLUMNS} FROM recovery_job j
WHERE j.tenant_id = $1 AND j.kind = $2 AND j.request_id = $3 AND j.after = $4
    AND j.node_id IS NOT DISTINCT FROM $5 AND j.of_match IS NOT DISTINCT FROM $6 AND j.{_OPEN}
"""
#: The holder of the slot $2, else the first that waits for it; $3 wait.
_IN_FLIGHT = f"""
SELECT j.request_id, j.kind, j.after, j.scheduled_at AS accepted_at,
    greatest(0, coalesce(s.expires_at, 0) - {NOW}) + $3::bigint * {SLOT_MILLIS} AS remaining,
    j.steps > 0 AND j.steps_done >= j.steps - 1 AS ending
FROM recovery_job j
LEFT JOIN recovery_slot s
    ON s.tenant_id = j.tenant_id AND s.node = {_node("j")} AND s.token = j.token
WHERE j.tenant_id = $1 AND {_node("j")} = $2 AND j.of_match IS NULL
    AND (s.token IS NOT NULL OR ({_wants_slot("j")} AND j.{_OPEN}))
ORDER BY coalesce(s.expires_at, 1) DESC, j.id LIMIT 1
"""
#: The next job, with its slot if it has waited for one: a slot that another transaction acquires meanwhile
#: leaves the job where it is.
_CLAIM = f"""
WITH next AS (
    SELECT w.id, w.tenant_id, {_node("w")} AS node, {_wants_slot("w")} AS wants_slot FROM recovery_job w
    JOIN tenant_cursor c ON c.tenant_id = w.tenant_id AND c.holder = $1 AND c.expires_at >= {NOW}
    WHERE w.{_OPEN} AND w.due_at <= {NOW} AND w.tenant_id = ANY ($3::uuid[]) AND w.id <> ALL ($4::bigint[])
        AND NOT EXISTS (
            SELECT FROM recovery_job e
            WHERE e.tenant_id = w.tenant_id AND e.{_OPEN} AND e.id < w.id AND (
                (w.of_match IS NOT NULL AND e.of_match IS NOT NULL)
                OR ({_wants_slot("w")} AND {_wants_slot("e")} AND {_node("e")} = {_node("w")})
            )
        )
        AND NOT ({_wants_slot("w")} AND EXISTS (
            SELECT FROM recovery_slot s
            WHERE s.tenant_id = w.tenant_id AND s.node = {_node("w")} AND s.expires_at > {NOW}
        ))
    ORDER BY w.id LIMIT 1 FOR UPDATE OF w SKIP LOCKED
), acquired AS (
    INSERT INTO recovery_slot AS slot (tenant_id, node, token, expires_at)
    SELECT tenant_id, node, 1, {NOW} + {SLOT_MILLIS} FROM next WHERE wants_slot
    {_TAKE_OVER}
)
UPDATE recovery_job j SET state = '{RecoveryState.RUNNING}', holder = $1, attempts = attempts + 1,
    due_at = CASE WHEN attempts < {MAX_ATTEMPTS} THEN due_at ELSE {NOW} + {_SLOW_MILLIS} END,
    started_at = coalesce(started_at, $2), steps = 0, steps_done = 0, envelopes = 0,
    token = coalesce((SELECT token FROM acquired), j.token)
FROM next
WHERE j.id = next.id AND (NOT next.wants_slot OR EXISTS (SELECT FROM acquired))
RETURNING {_COLUMNS}
"""
_HOLDS_SLOT = f"""
SELECT EXISTS (
    SELECT FROM recovery_slot WHERE tenant_id = $1 AND node = $2 AND token = $3 AND expires_at > {NOW}
)
"""
_THIS_RUN = f"id = $1 AND attempts = $2 AND state = '{RecoveryState.RUNNING}'"
_PROGRESS = f"UPDATE recovery_job SET steps = $3, steps_done = $4, envelopes = $5 WHERE {_THIS_RUN}"
_POSTPONE = f"""
UPDATE recovery_job SET
    state = '{RecoveryState.SCHEDULED}', holder = NULL, error = $3, due_at = {NOW} + $4::bigint
WHERE {_THIS_RUN}
"""
_END = f"""
UPDATE recovery_job SET state = $3, holder = NULL, error = $4, finished_at = $5,
    steps_done = CASE WHEN $3 = '{RecoveryState.COMPLETED}' THEN steps ELSE steps_done END
WHERE {_THIS_RUN}
"""


async def accept(
    tx: Tx, tenant_id: UUID, request: RecoveryRequest, now: int, lifetime: int = SLOT_MILLIS
) -> RecoveryJob | RecoveryInFlight:
    """Acquire the slot for `lifetime` ms and write the job, or return the request that is in flight there:
    the slot's holder, or the first that waits for it.

    Concurrent requests of one tenant are serialised: the second sees the outcome of the first. Deletes jobs
    that ended a week ago.
    """
    await tx.execute(_LOCK_TENANT, tenant_id)
    waiting = await tx.value(_WAITING, tenant_id, request.slot)
    token = None if waiting else await tx.value(_ACQUIRE_SLOT, tenant_id, request.slot, lifetime)
    if token is None:
        return await _in_flight(tx, tenant_id, request, waiting)
    return await _write(tx, tenant_id, request, token, now)


async def queue(
    tx: Tx, tenant_id: UUID, request: RecoveryRequest, now: int, limit: int = MAX_QUEUED
) -> RecoveryJob | None:
    """Write the job of a request that waits: a full one for its slot, an event-level one for the others of
    its tenant. For a request that has not ended yet, that job. None when `limit` of the tenant's jobs are
    without a slot.
    """
    await tx.execute(_LOCK_TENANT, tenant_id)
    if same := await tx.row(_SAME, tenant_id, *_parameters(request)):
        return _job(same)
    if await tx.value(_WITHOUT_SLOT, tenant_id) >= limit:
        return None
    if not request.request_id:
        request = replace(request, request_id=await _unused_id(tx, tenant_id, now))
    return await _write(tx, tenant_id, request, _NO_SLOT, now)


async def _unused_id(tx: Tx, tenant_id: UUID, first: int) -> str:
    while await tx.value(_IS_USED, tenant_id, str(first)):
        first += 1
    return str(first)


async def _write(tx: Tx, tenant_id: UUID, request: RecoveryRequest, token: int, now: int) -> RecoveryJob:
    await tx.execute(_DELETE_OLD, tenant_id, now - _STORED_MILLIS)
    (row,) = await tx.fetch(_INSERT, tenant_id, *_parameters(request), token, now)
    await tx.execute(_DELETE_UNUSED_SLOTS, tenant_id, IMPLICIT_SLOT)
    await notifications.notify(tx, CHANNEL, str(tenant_id))
    return _job(row)


async def claim(
    tx: Tx, holder: str, tenants: Collection[UUID], running: Collection[int], now: int
) -> RecoveryJob | None:
    """Start a run of the oldest due job of `tenants`, whose leases `holder` must hold; None when none is due.
    An event-level job is due when all earlier ones of its tenant have ended, a full one that waits when it
    can acquire its slot and none waits longer. `running` are the ids that this process runs already: any
    other running job was lost, with its process or by it."""
    row = await tx.row(_CLAIM, holder, now, list(tenants), list(running))
    return _job(row) if row else None


async def progress(tx: Tx, job: RecoveryJob, steps: int, done: int, envelopes: int) -> bool:
    """Write this run's progress; False when it is no longer the job's run."""
    return bool(await tx.execute(_PROGRESS, job.id, job.attempts, steps, done, envelopes))


async def complete(tx: Tx, job: RecoveryJob, now: int) -> bool:
    """Complete the job and release its slot, if it still holds it. False when this run is no longer the
    job's."""
    return await _end(tx, job, RecoveryState.COMPLETED, "", now)


async def fail(
    tx: Tx, job: RecoveryJob, error: str, pause: int, now: int, *, excused: bool = False, final: bool = False
) -> RecoveryState:
    """Record a failed run: run the job again after `pause` ms, or fail it when its attempts are used up or
    another would be useless (`final`); the job's new state. A run that failed for reasons outside the job is
    `excused`: while the job holds its slot, it gets another attempt."""
    if final or (job.attempts >= MAX_ATTEMPTS and not (excused and await holds_slot(tx, job))):
        await _end(tx, job, RecoveryState.FAILED, error, now)
        return RecoveryState.FAILED
    await tx.execute(_POSTPONE, job.id, job.attempts, error, pause)
    return RecoveryState.SCHEDULED


async def holds_slot(tx: Tx, job: RecoveryJob) -> bool:
    """Whether the job still holds its slot; an event-level job, which has none, counts as holding one for the
    same time after its first run began."""
    if job.request.match_id is not None and job.token == _NO_SLOT:
        ends = (job.started_at or job.accepted_at) + SLOT_MILLIS
        return bool(await tx.value(f"SELECT $1::bigint > {NOW}", ends))
    held: bool = await tx.value(_HOLDS_SLOT, job.tenant_id, job.request.slot, job.token)
    return held


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
        await tx.execute(_RELEASE_SLOT, job.tenant_id, job.request.slot, job.token)
    return bool(ended)


async def _in_flight(tx: Tx, tenant_id: UUID, request: RecoveryRequest, waiting: int) -> RecoveryInFlight:
    row = await tx.row(_IN_FLIGHT, tenant_id, request.slot, waiting)
    if row is None:
        raise LookupError(f"slot {request.slot!r} of tenant {tenant_id} is held by no job")
    return RecoveryInFlight(**dict(row) | {"kind": RecoveryKind(row["kind"])})


def _parameters(request: RecoveryRequest) -> tuple[object, ...]:
    """What makes two requests of a tenant the same."""
    return request.kind, request.request_id, request.after, request.node_id, request.match_id


def _job(row: Row) -> RecoveryJob:
    request = RecoveryRequest(
        RecoveryKind(row["kind"]), row["request_id"], row["after"], row["node_id"], row["of_match"]
    )
    converted = {"kind", "request_id", "after", "node_id", "of_match", "state"}
    return RecoveryJob(
        request=request,
        state=RecoveryState(row["state"]),
        **{name: value for name, value in row.items() if name not in converted},
    )
