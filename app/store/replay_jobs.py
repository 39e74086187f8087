"""What tenants replay: the list of matches of each node, and the replays that they started.

A replay is run by the feed process that holds its tenant's lease (see `cursors`). Due times are the
database's; `now` (ms) is what clients see. Writes of a superseded run are rejected by comparing `attempts`.
"""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

import msgspec
from piccolo.columns import Column
from piccolo.columns.combination import Where
from piccolo.query import Count, Delete, Insert, Select, Update

from app.domain.match import Status
from app.domain.replay import ListedMatch, ReplayJob, ReplayOptions, ReplayState
from app.store import audit, notifications
from app.store.audit import AuditRecord
from app.store.prepared import prepared, reading, reading_number, reading_row, reading_rows, writing
from app.store.sql import any_of, literals, now
from app.store.statements import claims
from app.store.tables.match import Match
from app.store.tables.replay import ReplayEvent
from app.store.tables.replay import ReplayJob as JobTable
from app.store.transaction import Row, Tx

CHANNEL = "replay"  #: NOTIFY channel: a replay was started or stopped; the payload is the tenant's id
_STORED_MILLIS = 7 * 86_400_000
_JOB = tuple(JobTable._meta.get_column_by_name(name) for name in claims.REPLAY_COLUMNS)
_OPEN = JobTable.state.is_in(literals((ReplayState.SCHEDULED, ReplayState.RUNNING)))
_decode_options = msgspec.json.Decoder(ReplayOptions).decode
_decode_positions = msgspec.json.Decoder(dict[UUID, int]).decode
Values = dict[Column | str, Any]


def _job(row: Row) -> ReplayJob:
    converted = {
        "match_ids": tuple(row["match_ids"]),
        "options": _decode_options(row["options"]),
        "state": ReplayState(row["state"]),
        "positions": _decode_positions(row["positions"]),
    }
    return ReplayJob(**{**row, **converted})


@writing
def add_event(tenant_id: UUID, node: str, match_id: UUID, /) -> Insert[Any]:
    """Add a match to the end of a node's list; one that is there stays where it is."""
    return ReplayEvent.insert(ReplayEvent(tenant_id=tenant_id, node=node, match_id=match_id)).on_conflict(
        (ReplayEvent.tenant_id, ReplayEvent.node, ReplayEvent.match_id), action="DO NOTHING"
    )


@writing
def remove_event(tenant_id: UUID, node: str, match_id: UUID, /) -> Delete:
    """Remove a match from a node's list; whether it was there (1 or 0)."""
    own = (ReplayEvent.tenant_id == tenant_id, ReplayEvent.node == node)
    return ReplayEvent.delete().where(*own, ReplayEvent.match_id == match_id)


@writing
def clear_events(tenant_id: UUID, node: str, /) -> Delete:
    """Empty a node's list; how many matches were in it."""
    return ReplayEvent.delete().where(ReplayEvent.tenant_id == tenant_id, ReplayEvent.node == node)


@reading_rows(lambda row: ListedMatch(**row))
def events(tenant_id: UUID, node: str, /, *, finished_only: bool = False) -> Select[Any]:
    """The matches of a node's list, in order; all, or those that are finished. One that was deleted while it
    was added is none of them."""
    match = ReplayEvent.match_id.join_on(Match.id)
    names = [getattr(match, name).as_alias(name) for name in ("id", "number", "home", "away")]
    query = ReplayEvent.select(*names)
    own = (ReplayEvent.tenant_id == tenant_id, ReplayEvent.node == node)
    query = query.where(*own, match.id.is_not_null())
    if finished_only:
        query = query.where(match.status == Status.FINISHED)
    return query.order_by(ReplayEvent.position)


async def start(
    tx: Tx,
    tenant_id: UUID,
    node: str,
    match_ids: Collection[UUID],
    options: ReplayOptions,
    now: int,
    *,
    by: str,
) -> ReplayJob:
    """Write a replay; `tenants.lock_jobs` must have been called, and the node must have no open one. Deletes
    those that ended a week ago. `by` names who started it in the audit."""
    await tx.change(_delete_old(tenant_id, now - _STORED_MILLIS))
    body = msgspec.json.encode(options)
    (row,) = await tx.run(_insert(tenant_id, node, list(match_ids), body, now))
    details = {"node_id": node or None, "matches": [str(one) for one in match_ids]}
    details |= msgspec.to_builtins(options)
    await audit.add(tx, AuditRecord(now, by, "replay.start", str(row["id"]), tenant_id, details))
    await notifications.notify(tx, CHANNEL, str(tenant_id))
    return _job(row)


@reading_number
def open_count(tenant_id: UUID, /) -> Count:
    """How many replays of the tenant run or wait."""
    return JobTable.count().where(JobTable.tenant_id == tenant_id, _OPEN)


@reading_row(_job)
def newest(tenant_id: UUID, node: str, /) -> Select[Any]:
    """The replay of the node that was started last."""
    query = JobTable.select(*_JOB).where(JobTable.tenant_id == tenant_id, JobTable.node == node)
    return query.order_by(JobTable.id, ascending=False).limit(1)


@reading_rows(_job)
def listing(tenant_id: UUID, /, *, limit: int) -> Select[Any]:
    """At most `limit` replays of the tenant, newest first."""
    query = JobTable.select(*_JOB).where(JobTable.tenant_id == tenant_id)
    return query.order_by(JobTable.id, ascending=False).limit(limit)


async def stop(tx: Tx, tenant_id: UUID, node: str, now: int) -> bool:
    """Stop the node's open replay; whether there was one."""
    stopped = bool(await tx.change(_stop(tenant_id, node, now)))
    if stopped:
        await notifications.notify(tx, CHANNEL, str(tenant_id))
    return stopped


async def claim(
    tx: Tx, holder: str, of_tenants: Collection[UUID], running: Collection[int], now: int
) -> ReplayJob | None:
    """Start a run of the oldest due replay of these tenants, whose leases `holder` must hold; None when none
    is due. `running` are the ids that this process runs already: any other running one was lost, with its
    process or by it."""
    row = await tx.row(claims.CLAIM_REPLAY, holder, now, list(of_tenants), list(running))
    return _job(row) if row else None


@reading(lambda rows: {row["id"]: row["attempts"] for row in rows})
def running(ids: Collection[int], /) -> Select[Any]:
    """Those of these replays that still run, each with the number of its run."""
    query = JobTable.select(JobTable.id, JobTable.attempts).where(any_of(JobTable.id, ids))
    return query.where(JobTable.state == ReplayState.RUNNING)


async def progress(tx: Tx, job: ReplayJob, positions: Mapping[UUID, int], envelopes: int) -> bool:
    """Write how far this run has come; False when it is no longer the replay's run."""
    body = msgspec.json.encode(positions)
    return bool(await tx.change(_progress(job.id, job.attempts, body, envelopes)))


async def end(tx: Tx, job: ReplayJob, state: ReplayState, error: str, now: int) -> bool:
    """End the replay; False when this run is no longer its run."""
    return bool(await tx.change(_ended(job.id, job.attempts, error, now, state=state)))


async def postpone(tx: Tx, job: ReplayJob, error: str, pause: int) -> None:
    """Have the replay run again after `pause` ms, from where it has come to."""
    await tx.change(_postpone(job.id, job.attempts, error, pause))


@prepared
def _insert(tenant_id: UUID, node: str, match_ids: Collection[UUID], options: bytes, at: int) -> Insert[Any]:
    job = JobTable(tenant_id=tenant_id, node=node, match_ids=match_ids, options=options, scheduled_at=at)
    job.state = ReplayState.SCHEDULED
    return JobTable.insert(job).returning(*_JOB)


@prepared
def _delete_old(tenant_id: UUID, before: int) -> Delete:
    return JobTable.delete().where(JobTable.tenant_id == tenant_id, JobTable.finished_at < before)


@prepared
def _stop(tenant_id: UUID, node: str, at: int) -> Update[Any]:
    values: Values = {JobTable.state: ReplayState.STOPPED, JobTable.holder: None, JobTable.finished_at: at}
    return JobTable.update(values).where(JobTable.tenant_id == tenant_id, JobTable.node == node, _OPEN)


def _of_run(job_id: int, attempt: int) -> tuple[Where, ...]:
    return JobTable.id == job_id, JobTable.attempts == attempt, JobTable.state == ReplayState.RUNNING


@prepared
def _progress(job_id: int, attempt: int, positions: bytes, envelopes: int) -> Update[Any]:
    values: Values = {JobTable.positions: positions, JobTable.envelopes: envelopes}
    return JobTable.update(values).where(*_of_run(job_id, attempt))


@prepared
def _postpone(job_id: int, attempt: int, error: str, pause: int) -> Update[Any]:
    values: Values = {JobTable.state: ReplayState.SCHEDULED, JobTable.holder: None, JobTable.error: error}
    values[JobTable.due_at] = now() + pause
    return JobTable.update(values).where(*_of_run(job_id, attempt))


@prepared
def _ended(job_id: int, attempt: int, error: str, at: int, *, state: ReplayState) -> Update[Any]:
    values: Values = {JobTable.state: state, JobTable.holder: None, JobTable.error: error}
    values[JobTable.finished_at] = at
    return JobTable.update(values).where(*_of_run(job_id, attempt))
