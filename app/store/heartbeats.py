"""Heartbeats of worker processes: each writes its own, others read when it wrote last."""

from app.store.transaction import Tx

INGEST = "ingest"
FEED = "feed"
_EXPIRES_AFTER = 86_400_000


async def record(tx: Tx, worker: str, kind: str, now: int) -> None:
    """Write that `worker` is alive at `now` (ms), and delete workers that have been silent for a day."""
    await tx.execute(
        """
        INSERT INTO worker_beat (worker, kind, at) VALUES ($1, $2, $3)
        ON CONFLICT (worker) DO UPDATE SET kind = excluded.kind, at = excluded.at
        """,
        worker,
        kind,
        now,
    )
    await tx.execute("DELETE FROM worker_beat WHERE at < $1", now - _EXPIRES_AFTER)


async def latest(tx: Tx, kind: str) -> int:
    """The time (ms) of the latest heartbeat of any worker of `kind`; 0 when there is none."""
    at: int = await tx.value("SELECT coalesce(max(at), 0) FROM worker_beat WHERE kind = $1", kind)
    return at


async def alive_since(tx: Tx, kind: str, since: int) -> list[str]:
    """The workers of `kind` with a heartbeat since then (ms), unordered."""
    rows = await tx.fetch("SELECT worker FROM worker_beat WHERE kind = $1 AND at >= $2", kind, since)
    return [row["worker"] for row in rows]


async def remove(tx: Tx, worker: str) -> None:
    """Delete the heartbeat of a worker that stops in good order."""
    await tx.execute("DELETE FROM worker_beat WHERE worker = $1", worker)
