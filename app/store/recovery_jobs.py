"""Recovery jobs and the slots that they hold; recoveries that were refused because their key's rate was
exceeded.

A slot is a lock with an expiry and a rising token: it is acquired when it has expired, and released only by
the holder of its present token. A request may also be queued: full ones then wait for the slot, which they
acquire when they are run, and event-level ones, which need none, for each other; both in the order of
acceptance. Expiries and due times use the database's clock, so that processes on machines with different
clocks agree; `now` (ms) is what clients see. A job is run by the feed process that holds its tenant's lease
(see `cursors`). Writes of a superseded run are rejected by comparing `attempts`.
"""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

import msgspec
from msgspec.structs import replace
from piccolo.columns import Column
from piccolo.columns.combination import Where
from piccolo.query import Count, Delete, Exists, Insert, Select, Update
from piccolo.query.functions import Max
from piccolo.querystring import QueryString

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
from app.store import audit, notifications, tenants
from app.store.audit import AuditRecord
from app.store.prepared import prepared, reading, writing
from app.store.sql import NO_SLOT, any_of, literals, not_exists, now, same
from app.store.statements import claims, server, writes
from app.store.tables.match import Match
from app.store.tables.tenant import RecoveryJob as JobTable
from app.store.tables.tenant import RecoverySlot, RefusedRecovery, TenantCursor
from app.store.transaction import Row, Tx

Values = dict[Column | str, Any]

CHANNEL = "recovery"  #: NOTIFY channel: a job waits; the payload is the tenant's id

_STORED_MILLIS = 7 * 86_400_000
_JOB = (
    *(JobTable._meta.get_column_by_name(name) for name in claims.JOB_COLUMNS),
    JobTable.scheduled_at.as_alias("accepted_at"),
)
_REQUEST = ("kind", "request_id", "after", "node_id", "of_match")
_OPEN = JobTable.state.is_in(literals((RecoveryState.SCHEDULED, RecoveryState.RUNNING)))
_NODE = QueryString(f"coalesce({{}}, '{IMPLICIT_SLOT}')", JobTable.node_id)  #: whose slot a full job needs


class ListedRecovery(msgspec.Struct, frozen=True):
    """A job, and the number and the teams of the match that it is about (None: of no match, or of one that
    was deleted)."""

    job: RecoveryJob
    number: int | None
    home: str | None
    away: str | None


async def accept(
    tx: Tx, tenant_id: UUID, request: RecoveryRequest, now: int, lifetime: int = SLOT_MILLIS, *, by: str
) -> RecoveryJob | RecoveryInFlight:
    """Acquire the slot for `lifetime` ms and write the job, or return the request that is in flight there:
    the slot's holder, or the first that waits for it.

    Concurrent requests of one tenant are serialised: the second sees the outcome of the first. Deletes jobs
    that ended a week ago.
    """
    await tenants.lock_jobs(tx, tenant_id)
    waiting = await tx.one_value(_waiting(tenant_id, request.slot))
    token = None if waiting else await tx.one_value(_acquire_slot(tenant_id, request.slot, lifetime))
    if token is None:
        return await _in_flight(tx, tenant_id, request, waiting)
    return await _write(tx, tenant_id, request, token, now, by)


async def queue(
    tx: Tx, tenant_id: UUID, request: RecoveryRequest, now: int, limit: int = MAX_QUEUED, *, by: str
) -> RecoveryJob | None:
    """Write the job of a request that waits: a full one for its slot, an event-level one for the tenant's
    earlier ones. Returns the present job if the same request has not ended yet, and None when `limit` of the
    tenant's jobs are without a slot.
    """
    await tenants.lock_jobs(tx, tenant_id)
    if same := await tx.first(_same(tenant_id, *_parameters(request))):
        return _job(same)
    if await tx.one_value(_without_slot(tenant_id)) >= limit:
        return None
    if not request.request_id:
        request = replace(request, request_id=await _unused_id(tx, tenant_id, now))
    return await _write(tx, tenant_id, request, NO_SLOT, now, by)


async def _unused_id(tx: Tx, tenant_id: UUID, first: int) -> str:
    while await tx.one_value(_is_used(tenant_id, str(first))):
        first += 1
    return str(first)


async def _write(
    tx: Tx, tenant_id: UUID, request: RecoveryRequest, token: int, now: int, by: str
) -> RecoveryJob:
    """Write the job, and who requested it."""
    await tx.change(_delete_old(tenant_id, now - _STORED_MILLIS))
    (row,) = await tx.run(_insert(tenant_id, *_parameters(request), token, now))
    await tx.change(_delete_unused_slots(tenant_id))
    details = msgspec.structs.asdict(request)
    await audit.add(tx, AuditRecord(now, by, "recovery.request", str(row["id"]), tenant_id, details))
    await notifications.notify(tx, CHANNEL, str(tenant_id))
    return _job(row)


async def claim(
    tx: Tx, holder: str, tenants: Collection[UUID], running: Collection[int], now: int
) -> RecoveryJob | None:
    """Start a run of the oldest due job of `tenants`, whose leases `holder` must hold; None when none is due.
    An event-level job is due when all earlier ones of its tenant have ended, a full one that waits when it
    can acquire its slot and none waits longer. `running` are the ids that this process runs already: any
    other running job was lost, with its process or by it."""
    row = await tx.row(claims.CLAIM_JOB, holder, now, list(tenants), list(running))
    return _job(row) if row else None


async def progress(tx: Tx, job: RecoveryJob, steps: int, done: int, envelopes: int) -> bool:
    """Write this run's progress; False when it is no longer the job's run."""
    return bool(await tx.change(_progress(job.id, job.attempts, steps, done, envelopes)))


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
    await tx.change(_postpone(job.id, job.attempts, error, pause))
    return RecoveryState.SCHEDULED


async def holds_slot(tx: Tx, job: RecoveryJob) -> bool:
    """Whether the job still holds its slot; an event-level job, which has none, counts as holding one for the
    same time after its first run began."""
    if job.request.match_id is not None and job.token == NO_SLOT:
        ends = (job.started_at or job.accepted_at) + SLOT_MILLIS
        return bool(await tx.value(server.IS_AHEAD, ends))
    held: bool = await tx.one_value(_holds_slot(job.tenant_id, job.request.slot, job.token))
    return held


async def find(tx: Tx, tenant_id: UUID, request_id: str, node_id: str | None = None) -> RecoveryJob | None:
    """The tenant's newest job with that request id (and node id, unless None)."""
    row = await tx.first(_newest(tenant_id, request_id, node_id, of_node=node_id is not None))
    return _job(row) if row else None


async def by_id(tx: Tx, tenant_id: UUID, job_id: int) -> ListedRecovery | None:
    """The tenant's job of that number."""
    row = await tx.first(_listed(tenant_id, job_id, job_id + 1, limit=1))
    return _listed_recovery(row) if row else None


async def listing(tx: Tx, tenant_id: UUID, before: int, limit: int) -> list[ListedRecovery]:
    """At most `limit` jobs of the tenant with a lower id than `before`, newest first; those that ended a week
    ago are deleted."""
    return [_listed_recovery(row) for row in await tx.run(_listed(tenant_id, 0, before, limit=limit))]


@writing
def record_refused(key_id: UUID, tenant_id: UUID, wait: int, /) -> Insert[Any]:
    """Record that a recovery was refused because the key's rate was exceeded, and that the key has room again
    in `wait` ms: then the client may be notified, so that it requests one again."""
    row = RefusedRecovery(key_id=key_id, tenant_id=tenant_id, due_at=now() + wait)
    return RefusedRecovery.insert(row).on_conflict(
        RefusedRecovery.key_id, action="DO UPDATE", values=[RefusedRecovery.due_at]
    )


@reading(lambda rows: {row["tenant_id"]: row["due_at"] for row in rows})
def due_refused(holder: str, tenants: Collection[UUID], /) -> Select[Any]:
    """Those of these tenants of `holder` whose clients have room again for a refused recovery, and since when
    the last of them has. They stay due until `delete_refused`, for the next holder, should this one end
    before it has notified them."""
    cursor = RefusedRecovery.tenant_id.join_on(TenantCursor.tenant_id)
    query = RefusedRecovery.select(RefusedRecovery.tenant_id, Max(RefusedRecovery.due_at, alias="due_at"))
    query = query.where(any_of(RefusedRecovery.tenant_id, tenants), cursor.holder == holder)
    return query.where(RefusedRecovery.due_at <= now()).group_by(RefusedRecovery.tenant_id)


async def delete_refused(tx: Tx, notified: Mapping[UUID, int]) -> None:
    """Delete what was due until these times for these tenants, which have been notified."""
    if notified:
        await tx.execute(writes.DELETE_REFUSED, list(notified), list(notified.values()))


async def _end(tx: Tx, job: RecoveryJob, state: RecoveryState, error: str, now: int) -> bool:
    ended = await tx.change(_ended(job.id, job.attempts, error, now, state=state))
    if ended:
        await tx.change(_release_slot(job.tenant_id, job.request.slot, job.token))
    return bool(ended)


async def _in_flight(tx: Tx, tenant_id: UUID, request: RecoveryRequest, waiting: int) -> RecoveryInFlight:
    row = await tx.row(claims.JOB_IN_FLIGHT, tenant_id, request.slot, waiting)
    if row is None:
        raise LookupError(f"slot {request.slot!r} of tenant {tenant_id} is held by no job")
    return RecoveryInFlight(**dict(row) | {"kind": RecoveryKind(row["kind"])})


def _parameters(request: RecoveryRequest) -> tuple[str, str, int, str | None, UUID | None]:
    """What makes two requests of a tenant the same: the columns `_REQUEST`."""
    return request.kind, request.request_id, request.after, request.node_id, request.match_id


def _job(row: Row) -> RecoveryJob:
    request = RecoveryRequest(
        RecoveryKind(row["kind"]), row["request_id"], row["after"], row["node_id"], row["of_match"]
    )
    converted = {*_REQUEST, "state"}
    return RecoveryJob(
        request=request,
        state=RecoveryState(row["state"]),
        **{name: value for name, value in row.items() if name not in converted},
    )


def _listed_recovery(row: Row) -> ListedRecovery:
    values = dict(row)
    number, home, away = (values.pop(name) for name in ("match_number", "match_home", "match_away"))
    return ListedRecovery(_job(values), number, home, away)


@prepared
def _listed(tenant_id: UUID, first: int, before: int, *, limit: int) -> Select[Any]:
    match = JobTable.of_match.join_on(Match.id)
    named = [getattr(match, name).as_alias(f"match_{name}") for name in ("number", "home", "away")]
    query = JobTable.select(*_JOB, *named).where(JobTable.tenant_id == tenant_id)
    query = query.where(JobTable.id >= first, JobTable.id < before)
    return query.order_by(JobTable.id, ascending=False).limit(limit)


@prepared
def _without_slot(tenant_id: UUID) -> Count:
    return JobTable.count().where(JobTable.tenant_id == tenant_id, JobTable.token == NO_SLOT, _OPEN)


@prepared
def _waiting(tenant_id: UUID, node: str) -> Count:
    """Full jobs that have never had a slot, of the slot's node."""
    query = JobTable.count().where(JobTable.tenant_id == tenant_id, JobTable.token == NO_SLOT, _OPEN)
    return query.where(JobTable.of_match.is_null(), _NODE.eq(node))


@prepared
def _acquire_slot(tenant_id: UUID, node: str, lifetime: int) -> Insert[Any]:
    row = RecoverySlot(tenant_id=tenant_id, node=node, token=1, expires_at=now() + lifetime)
    next_token = (RecoverySlot.token, QueryString("{} + 1", RecoverySlot.token))
    return (
        RecoverySlot.insert(row)
        .on_conflict(
            (RecoverySlot.tenant_id, RecoverySlot.node),
            action="DO UPDATE",
            values=[next_token, RecoverySlot.expires_at],
            where=RecoverySlot.expires_at <= now(),
        )
        .returning(RecoverySlot.token)
    )


@prepared
def _release_slot(tenant_id: UUID, node: str, token: int) -> Update[Any]:
    slot = (RecoverySlot.tenant_id == tenant_id, RecoverySlot.node == node, RecoverySlot.token == token)
    return RecoverySlot.update({RecoverySlot.expires_at: 0}).where(*slot)


@prepared
def _holds_slot(tenant_id: UUID, node: str, token: int) -> Exists[Any]:
    slot = (RecoverySlot.tenant_id == tenant_id, RecoverySlot.node == node, RecoverySlot.token == token)
    return RecoverySlot.exists().where(*slot, RecoverySlot.expires_at > now())


@prepared
def _delete_unused_slots(tenant_id: UUID) -> Delete:
    """Expired slots without a job: while a job has a token, the slot's must keep rising."""
    jobs = JobTable.select(JobTable.id).where(JobTable.tenant_id == tenant_id, _NODE.eq(RecoverySlot.node))
    expired = (RecoverySlot.tenant_id == tenant_id, RecoverySlot.expires_at <= now())
    return RecoverySlot.delete().where(*expired, not_exists(jobs))


@prepared
def _is_used(tenant_id: UUID, request_id: str) -> Exists[Any]:
    return JobTable.exists().where(JobTable.tenant_id == tenant_id, JobTable.request_id == request_id)


@prepared
def _same(
    tenant_id: UUID, kind: str, request_id: str, after: int, node_id: str | None, match_id: UUID | None
) -> Select[Any]:
    query = JobTable.select(*_JOB).where(
        JobTable.tenant_id == tenant_id,
        JobTable.kind == kind,
        JobTable.request_id == request_id,
        JobTable.after == after,
    )
    return query.where(same(JobTable.node_id, node_id), same(JobTable.of_match, match_id), _OPEN)


@prepared
def _newest(tenant_id: UUID, request_id: str, node_id: str | None, *, of_node: bool) -> Select[Any]:
    query = JobTable.select(*_JOB).where(JobTable.tenant_id == tenant_id, JobTable.request_id == request_id)
    if of_node:
        query = query.where(JobTable.node_id == node_id)
    return query.order_by(JobTable.id, ascending=False).limit(1)


@prepared
def _delete_old(tenant_id: UUID, before: int) -> Delete:
    return JobTable.delete().where(JobTable.tenant_id == tenant_id, JobTable.finished_at < before)


@prepared
def _insert(tenant_id: UUID, *values: object) -> Insert[Any]:
    row: dict[str, Any] = dict(zip((*_REQUEST, "token", "scheduled_at"), values, strict=True))
    job = JobTable(tenant_id=tenant_id, state=RecoveryState.SCHEDULED, **row)
    return JobTable.insert(job).returning(*_JOB)


def _of_run(job_id: int, attempt: int) -> tuple[Where, ...]:
    running = JobTable.state == RecoveryState.RUNNING
    return JobTable.id == job_id, JobTable.attempts == attempt, running


@prepared
def _progress(job_id: int, attempt: int, steps: int, done: int, envelopes: int) -> Update[Any]:
    values: Values = {JobTable.steps: steps, JobTable.steps_done: done, JobTable.envelopes: envelopes}
    return JobTable.update(values).where(*_of_run(job_id, attempt))


@prepared
def _postpone(job_id: int, attempt: int, error: str, pause: int) -> Update[Any]:
    values: Values = {JobTable.state: RecoveryState.SCHEDULED, JobTable.holder: None, JobTable.error: error}
    values[JobTable.due_at] = now() + pause
    return JobTable.update(values).where(*_of_run(job_id, attempt))


@prepared
def _ended(job_id: int, attempt: int, error: str, at: int, *, state: RecoveryState) -> Update[Any]:
    values: Values = {JobTable.state: state, JobTable.holder: None, JobTable.error: error}
    values[JobTable.finished_at] = at
    if state is RecoveryState.COMPLETED:
        values[JobTable.steps_done] = JobTable.steps
    return JobTable.update(values).where(*_of_run(job_id, attempt))
