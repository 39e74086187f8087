"""Heartbeats of worker and web processes: each writes its own, others read when it wrote last."""

from typing import Any

from piccolo.columns import Column
from piccolo.query import Delete, Insert, Select, Update
from piccolo.query.functions import Coalesce, Max, Min
from piccolo.querystring import QueryString

from app.store.prepared import prepared, reading, reading_number, reading_optional_number, writing
from app.store.sql import now as database_now
from app.store.tables.operations import WorkerBeat
from app.store.transaction import Tx

INGEST = "ingest"
FEED = "feed"
WEB = "web"
_EXPIRES_AFTER = 86_400_000
#: What a process of this version reads and processes of the versions before do not. 0: those of 0.2.0. 1: the
#: specifier `opponent`, and the exchange of replays.
COMPATIBILITY_LEVEL = 1
_ALIVE_MILLIS = 15_000  #: after so long without a heartbeat a process does not count as alive


async def record(tx: Tx, worker: str, kind: str, now: int, *, reaches_broker: bool = True) -> None:
    """Write that `worker` is alive at `now` (ms), and delete workers of its kind that have been silent for a
    day: of each kind the last one stays, so that it is known when that was."""
    await tx.change(_record(worker, kind, now, reaches_broker))
    await tx.change(_expire(kind, now - _EXPIRES_AFTER))


async def record_web(tx: Tx, worker: str, *, listens: bool, reaches_broker: bool = True) -> None:
    """Write that a web process listens, by the database's clock, or that it no longer does; and delete as
    `record` does."""
    await tx.change(_record(worker, WEB, 0, reaches_broker))
    if listens:
        await tx.change(_stamp(worker))
        await tx.change(_expire_web())


@reading_optional_number
def web_silence() -> Select[Any]:
    """For how many ms no web process has announced that it listens, by the database's clock; None if none
    ever did."""
    silence = QueryString("{} - max(worker_beat.at)", database_now(), alias="silence")
    return WorkerBeat.select(silence).where(WorkerBeat.kind == WEB)


@reading_number
def latest(kind: str, /) -> Select[Any]:
    """The time (ms) of the latest heartbeat of any worker of `kind`; 0 when there is none."""
    return WorkerBeat.select(Coalesce(Max(WorkerBeat.at), 0)).where(WorkerBeat.kind == kind)


@reading(lambda rows: {row["worker"]: row["reaches_broker"] for row in rows})
def alive_since(kind: str, since: int, /) -> Select[Any]:
    """The workers of `kind` with a heartbeat since then (ms), each with whether it reached the broker."""
    workers = WorkerBeat.select(WorkerBeat.worker, WorkerBeat.reaches_broker)
    return workers.where(WorkerBeat.kind == kind, WorkerBeat.at >= since)


@reading_number
def lowest_compatibility() -> Select[Any]:
    """The lowest compatibility level of the processes that are alive, by the database's clock: while it is
    below ours, what those processes cannot read must not be written."""
    alive = WorkerBeat.at >= database_now() - _ALIVE_MILLIS
    return WorkerBeat.select(Coalesce(Min(WorkerBeat.compatibility), COMPATIBILITY_LEVEL)).where(alive)


@writing
def forget() -> Delete:
    """Delete the heartbeats from before a restore; those of web processes stay, for `web_silence`."""
    return WorkerBeat.delete().where(WorkerBeat.kind != WEB)


@writing
def remove(worker: str, /) -> Delete:
    """Delete the heartbeat of a worker that stops in good order."""
    return WorkerBeat.delete().where(WorkerBeat.worker == worker)


@prepared
def _record(worker: str, kind: str, at: int, reaches_broker: bool) -> Insert[Any]:
    row = WorkerBeat(
        worker=worker,
        kind=kind,
        at=at,
        reaches_broker=reaches_broker,
        compatibility=COMPATIBILITY_LEVEL,
    )
    return WorkerBeat.insert(row).on_conflict(
        WorkerBeat.worker,
        action="DO UPDATE",
        values=[WorkerBeat.kind, WorkerBeat.at, WorkerBeat.reaches_broker, WorkerBeat.compatibility],
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
    return WorkerBeat.delete().where(WorkerBeat.kind == WEB, WorkerBeat.at < database_now() - _EXPIRES_AFTER)
