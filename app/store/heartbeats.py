"""Which worker processes live: each writes a beat, and others see when the last one was."""

from app.store.transaction import Tx

INGEST = "ingest"
FEED = "feed"
_FORGOTTEN_AFTER = 86_400_000


async def record(tx: Tx, worker: str, kind: str, now: int) -> None:
    """Say that `worker` lives at `now` (ms), and forget workers that have been silent for a day."""
    await tx.execute(
        """
        INSERT INTO worker_beat (worker, kind, at) VALUES ($1, $2, $3)
        ON CONFLICT (worker) DO UPDATE SET kind = excluded.kind, at = excluded.at
        """,
        worker,
        kind,
        now,
    )
    await tx.execute("DELETE FROM worker_beat WHERE at < $1", now - _FORGOTTEN_AFTER)


async def latest(tx: Tx, kind: str) -> int:
    """When the last worker of `kind` beat, in ms; 0 when none ever has."""
    at: int = await tx.value("SELECT coalesce(max(at), 0) FROM worker_beat WHERE kind = $1", kind)
    return at


async def alive_since(tx: Tx, kind: str, since: int) -> list[str]:
    """The workers of `kind` that have beaten since then (ms), in no order."""
    rows = await tx.fetch("SELECT worker FROM worker_beat WHERE kind = $1 AND at >= $2", kind, since)
    return [row["worker"] for row in rows]


async def remove(tx: Tx, worker: str) -> None:
    """The worker ends in good order and will not beat again."""
    await tx.execute("DELETE FROM worker_beat WHERE worker = $1", worker)
