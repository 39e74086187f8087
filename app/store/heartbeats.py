"""Heartbeats of worker and web processes: each writes its own, others read when it wrote last."""

from typing import Any

from piccolo.columns import Column
from piccolo.query import Delete, Insert, Select, Update
from piccolo.query.functions import Coalesce, Max
from piccolo.querystring import QueryString

from app.store.prepared import prepared, reading, reading_number, reading_optional_number, writing
from app.store.sql import now as database_now
from app.store.tables.operations import WorkerBeat
from app.store.transaction import Tx

INGEST = "ingest"
FEED = "feed"
_WEB = "web"
_EXPIRES_AFTER = 86_400_000


async def record(tx: Tx, worker: str, kind: str, now: int, *, reaches_broker: bool = True) -> None:
    """Write that `worker` is alive at `now` (ms), and delete workers of its kind that have been silent for a
    day: of each kind the last one stays, so that it is known when that was."""
    await tx.change(_record(worker, kind, now, reaches_broker))
    await tx.change(_expire(kind, now - _EXPIRES_AFTER))


async def record_web(tx: Tx, worker: str, *, listens: bool) -> None:
    """Write that a web process listens, by the database's clock, or that it no longer does; and delete as
    `record` does."""
    await tx.change(_record(worker, _WEB, 0, True))
    if listens:
        await tx.change(_stamp(worker))
        await tx.change(_expire_web())


@reading_optional_number
def web_silence() -> Select[Any]:
    """For how many ms no web process has announced that it listens, by the database's clock; None if none
    ever did."""
    silence = QueryString("{} - max(worker_beat.at)", database_now(), alias="silence")
    return WorkerBeat.select(silence).where(WorkerBeat.kind == _WEB)


@reading_number
def latest(kind: str, /) -> Select[Any]:
    """The time (ms) of the latest heartbeat of any worker of `kind`; 0 when there is none."""
    return WorkerBeat.select(Coalesce(Max(WorkerBeat.at), 0)).where(WorkerBeat.kind == kind)


@reading(lambda rows: {row["worker"]: row["reaches_broker"] for row in rows})
def alive_since(kind: str, since: int, /) -> Select[Any]:
    """The workers of `kind` with a heartbeat since then (ms), each with whether it reached the broker."""
    workers = WorkerBeat.select(WorkerBeat.worker, WorkerBeat.reaches_broker)
    return workers.where(WorkerBeat.kind == kind, WorkerBeat.at >= since)


@writing
def forget() -> Delete:
    """Delete the heartbeats from before a restore; those of web processes stay, for `web_silence`."""
    return WorkerBeat.delete().where(WorkerBeat.kind != _WEB)


@writing
def remove(worker: str, /) -> Delete:
    """Delete the heartbeat of a worker that stops in good order."""
    return WorkerBeat.delete().where(WorkerBeat.worker == worker)


@prepared
def _record(worker: str, kind: str, at: int, reaches_broker: bool) -> Insert[Any]:
    row = WorkerBeat(worker=worker, kind=kind, at=at, reaches_broker=reaches_broker)
    return WorkerBeat.insert(row).on_conflict(
        WorkerBeat.worker,
        action="DO UPDATE",
        values=[WorkerBeat.kind, WorkerBeat.at, WorkerBeat.reaches_broker],
    )


@prepared
def _stamp(worker: str) -> Update[Any]:
    values: dict[Column | str, Any] = {WorkerBeat.at: database_now()}
    return WorkerBeat.update(values).where(WorkerBeat.worker == worker)


@prepared
def _expire(kind: str, before: int) -> Delete:
    return WorkerBeat.delete().where(WorkerBeat.kind == kind, WorkerBeat.at < before)


@prepared
def _expire_web() -> Delete:
    return WorkerBeat.delete().where(WorkerBeat.kind == _WEB, WorkerBeat.at < database_now() - _EXPIRES_AFTER)
