"""Tenants' cursors in the change log, and the leases of the processes that publish to them (`tenant_cursor`).

A lease is a holder's name and an epoch with an expiry. Acquiring a lease raises the epoch, so that a
checkpoint of an earlier holder changes nothing. Times are the database's, so that processes on machines with
different clocks agree.
"""

from collections.abc import Collection, Mapping
from uuid import UUID

import msgspec

from app.store.sql import NOW
from app.store.transaction import Tx

_CREATE_MISSING = f"""
INSERT INTO tenant_cursor (tenant_id, seq, said_at)
SELECT t.id, (SELECT coalesce(max(seq), 0) FROM change), {NOW} FROM tenant t
WHERE t.amqp AND t.active AND NOT EXISTS (SELECT FROM tenant_cursor c WHERE c.tenant_id = t.id)
ORDER BY t.id  -- two processes that insert the same rows in different orders would deadlock
ON CONFLICT (tenant_id) DO NOTHING
"""
_ACQUIRE = f"""
WITH free AS (
    SELECT c.tenant_id, c.holder, c.expires_at, t.slug
    FROM tenant_cursor c JOIN tenant t ON t.id = c.tenant_id AND t.amqp AND t.active
    WHERE c.holder IS NULL OR c.expires_at < {NOW}
    ORDER BY c.expires_at, t.slug LIMIT $2
    FOR UPDATE OF c SKIP LOCKED
)
UPDATE tenant_cursor c SET holder = $1, epoch = c.epoch + 1, expires_at = {NOW} + $3
FROM free WHERE c.tenant_id = free.tenant_id
RETURNING c.tenant_id, free.slug, c.seq, c.epoch, free.holder AS former,
    CASE WHEN c.epoch > 1 THEN greatest(0, {NOW} - c.said_at) ELSE 0 END AS silent, c.dropped,
    c.told_dead AS notified_heartbeat, c.owed AS notice_pending, c.bound AS bound_queues
"""
_RENEW = f"""
UPDATE tenant_cursor c SET expires_at = {NOW} + $2
FROM tenant t
WHERE c.holder = $1 AND c.expires_at >= {NOW} AND t.id = c.tenant_id AND t.amqp AND t.active
RETURNING c.tenant_id, c.epoch
"""
_CHECKPOINT = """
UPDATE tenant_cursor c SET seq = checkpoint.seq, owed = checkpoint.notice_pending
FROM unnest($2::uuid[], $3::int[], $4::bigint[], $5::bool[])
    AS checkpoint (tenant_id, epoch, seq, notice_pending)
WHERE c.tenant_id = checkpoint.tenant_id AND c.epoch = checkpoint.epoch AND c.holder = $1
RETURNING c.tenant_id
"""
_RELEASE = f"""
UPDATE tenant_cursor SET holder = NULL, expires_at = {NOW}
WHERE holder = $1 AND tenant_id = ANY ($2::uuid[])
"""
_LOSS_MILLIS = 300_000  #: for so long after its last loss a tenant counts as losing messages
_LOSING = f"(c.owed OR c.dropped_at > {NOW} - {_LOSS_MILLIS})"
_MAX_BEHIND = 100_000  #: more envelopes than this are not counted
_STATUS = f"""
SELECT t.slug, c.seq, c.holder, c.epoch, c.expires_at - {NOW} AS remaining, c.state, c.dropped,
    greatest(0, {NOW} - c.said_at) AS silent,
    (SELECT count(*) FROM (
        SELECT FROM change x WHERE x.seq > c.seq AND x.seq = x.envelope_seq AND x.message <> ''
        LIMIT {_MAX_BEHIND}
    ) AS unpublished) AS behind,
    (SELECT {NOW} - x.at FROM change x WHERE x.seq > c.seq AND x.message <> ''
        ORDER BY x.seq LIMIT 1) AS oldest
FROM tenant_cursor c JOIN tenant t ON t.id = c.tenant_id AND t.amqp AND t.active
ORDER BY t.slug
"""


_SAVE_REPORTS = f"""
UPDATE tenant_cursor c
SET state = report.state, said_at = greatest(c.said_at, {NOW} - report.silent), dropped = report.dropped,
    told_dead = report.notified_heartbeat, owed = report.notice_pending, bound = report.bound_queues,
    dropped_at = CASE WHEN report.dropped > c.dropped THEN {NOW} ELSE c.dropped_at END,
    dropped_before = CASE WHEN {_LOSING} THEN c.dropped_before ELSE c.dropped END
FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bool[], $8::text[])
    AS report (tenant_id, state, silent, dropped, notified_heartbeat, notice_pending, bound_queues)
WHERE c.tenant_id = report.tenant_id AND c.holder = $1
RETURNING c.tenant_id
"""
_SILENT = f"""
SELECT count(*) AS all, count(*) FILTER (WHERE c.said_at < {NOW} - $1::bigint) AS silent
FROM tenant_cursor c JOIN tenant t ON t.id = c.tenant_id AND t.amqp AND t.active
"""


class LeasedTenant(msgspec.Struct, frozen=True):
    """A tenant whose lease was acquired, to publish to from `seq` on.

    `former` is the holder that lost the lease without releasing it, or None; `silent` is the time in ms since
    `alive` was last published to it (0 for a tenant that never had a holder); the rest is what the former
    holder reported last.
    """

    tenant_id: UUID
    slug: str
    seq: int
    epoch: int
    former: str | None = None
    silent: int = 0
    dropped: int = 0
    notified_heartbeat: int = -1
    notice_pending: bool = False
    bound_queues: str = ""


class Checkpoint(msgspec.Struct, frozen=True):
    """A tenant's cursor in a holder's `epoch`; `notice_pending`: the tenant has missed something before `seq`
    and has not been notified of it."""

    epoch: int
    seq: int
    notice_pending: bool


class TenantReport(msgspec.Struct, frozen=True):
    """What a tenant's holder knows of it: `state` of the connection ("" while it works), the time in ms since
    `alive` was published, how many messages its queues have lost in all, and the last ingest heartbeat of the
    outage that the tenant was notified of (-1: none); `notice_pending` as in `Checkpoint`; `bound_queues`:
    the queues that live messages are routed to, as a JSON list, "" when there never was one."""

    state: str
    silent: int
    dropped: int
    notified_heartbeat: int
    notice_pending: bool
    bound_queues: str = ""


class CursorStatus(msgspec.Struct, frozen=True):
    """One tenant's cursor: `behind` envelopes not yet published, the `oldest` of them written so many ms ago
    (None when there is none); `remaining` ms of the holder's lease; the rest as in `TenantReport`."""

    slug: str
    seq: int
    holder: str | None
    epoch: int
    remaining: int
    state: str
    dropped: int
    silent: int
    behind: int
    oldest: int | None


class MessageLoss(msgspec.Struct, frozen=True):
    """A tenant's losses: the messages that its queues have `dropped` since it counts as losing some.
    `unbound`: live messages are routed to no queue now, though there was one."""

    slug: str
    dropped: int
    unbound: bool


async def create_missing(tx: Tx) -> None:
    """Create the missing cursors of tenants with a vhost, at the present end of the change log."""
    await tx.execute(_CREATE_MISSING)


async def acquire(tx: Tx, holder: str, limit: int, lease: int) -> list[LeasedTenant]:
    """Acquire the leases of up to `limit` tenants without a holder, for `lease` ms."""
    return [LeasedTenant(**row) for row in await tx.fetch(_ACQUIRE, holder, limit, lease)]


async def renew(tx: Tx, holder: str, lease: int) -> dict[UUID, int]:
    """Extend all leases of `holder` by `lease` ms from now; its tenants with their epochs. An expired lease
    is lost, whether or not another process has acquired it."""
    return {row["tenant_id"]: row["epoch"] for row in await tx.fetch(_RENEW, holder, lease)}


async def checkpoint(tx: Tx, holder: str, checkpoints: Mapping[UUID, Checkpoint]) -> set[UUID]:
    """Move cursors, by tenant; the tenants whose cursor moved: the leases of the others are lost."""
    columns = zip(*(msgspec.structs.astuple(each) for each in checkpoints.values()), strict=True)
    updated = await tx.fetch(_CHECKPOINT, holder, list(checkpoints), *map(list, columns))
    return {row["tenant_id"] for row in updated}


async def release(tx: Tx, holder: str, tenants: Collection[UUID]) -> None:
    """Release the leases of `tenants`; no message to them may be unconfirmed any more."""
    await tx.execute(_RELEASE, holder, list(tenants))


async def save_reports(tx: Tx, holder: str, reports: Mapping[UUID, TenantReport]) -> set[UUID]:
    """Store what `holder` knows of its tenants, for operators and for the next holder; the tenants for which
    it was stored: the leases of the others are lost."""
    if not reports:
        return set()
    columns = zip(*(msgspec.structs.astuple(each) for each in reports.values()), strict=True)
    updated = await tx.fetch(_SAVE_REPORTS, holder, list(reports), *map(list, columns))
    return {row["tenant_id"] for row in updated}


async def losses(tx: Tx) -> list[MessageLoss]:
    """The tenants that have lost messages within the last five minutes, or have not yet been notified that
    they missed something."""
    rows = await tx.fetch(
        f"""
        SELECT t.slug, c.dropped - c.dropped_before AS dropped, c.bound = '[]' AS unbound FROM tenant_cursor c
        JOIN tenant t ON t.id = c.tenant_id AND t.amqp AND t.active
        WHERE {_LOSING}
        """
    )
    return [MessageLoss(**row) for row in rows]


async def silent_count(tx: Tx, millis: int) -> tuple[int, int]:
    """How many tenants have received no `alive` for `millis`, and how many tenants the feed has."""
    (row,) = await tx.fetch(_SILENT, millis)
    return row["silent"], row["all"]


async def tenant_count(tx: Tx) -> int:
    """How many tenants the feed has."""
    count: int = await tx.value("SELECT count(*) FROM tenant WHERE amqp AND active")
    return count


async def statuses(tx: Tx) -> list[CursorStatus]:
    """The status of every tenant's cursor, by slug."""
    return [CursorStatus(**row) for row in await tx.fetch(_STATUS)]
