"""Heartbeats of worker processes: each writes its own, others read when it wrote last."""

from typing import Any

from piccolo.query import Delete, Insert, Select
from piccolo.query.functions import Coalesce, Max

from app.store.prepared import prepared
from app.store.query_functions import reading_number, writing
from app.store.tables.worker import WorkerBeat
from app.store.transaction import Tx

INGEST = "ingest"
FEED = "feed"
_EXPIRES_AFTER = 86_400_000


async def record(tx: Tx, worker: str, kind: str, now: int, *, reaches_broker: bool = True) -> None:
    """Write that `worker` is alive at `now` (ms), and delete workers that have been silent for a day."""
    await tx.change(_record(worker, kind, now, reaches_broker))
    await tx.change(_expire(now - _EXPIRES_AFTER))


@reading_number
def latest(kind: str, /) -> Select[Any]:
    """The time (ms) of the latest heartbeat of any worker of `kind`; 0 when there is none."""
    return WorkerBeat.select(Coalesce(Max(WorkerBeat.at), 0)).where(WorkerBeat.kind == kind)


async def alive_since(tx: Tx, kind: str, since: int) -> dict[str, bool]:
    """The workers of `kind` with a heartbeat since then (ms), each with whether it reached the broker."""
    return {row["worker"]: row["reaches_broker"] for row in await tx.run(_alive_since(kind, since))}


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
def _expire(before: int) -> Delete:
    return WorkerBeat.delete().where(WorkerBeat.at < before)


@prepared
def _alive_since(kind: str, since: int) -> Select[Any]:
    workers = WorkerBeat.select(WorkerBeat.worker, WorkerBeat.reaches_broker)
    return workers.where(WorkerBeat.kind == kind, WorkerBeat.at >= since)
