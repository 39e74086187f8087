"""How far each tenant has been told, and who tells it: leases over `tenant_cursor`.

A lease is a holder's name and an epoch with an end. Whoever takes a lease raises the epoch, so that a
checkpoint of an earlier holder changes nothing. Times are the database's, so that processes on machines
with different clocks agree.
"""

from collections.abc import Collection, Mapping
from uuid import UUID

import msgspec

from app.store.transaction import Tx

_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_ADMIT = """
INSERT INTO tenant_cursor (tenant_id, seq)
SELECT id, (SELECT coalesce(max(seq), 0) FROM change) FROM tenant WHERE amqp AND active
ON CONFLICT (tenant_id) DO NOTHING
"""
_TAKE = f"""
WITH free AS (
    SELECT c.tenant_id, c.holder, c.expires_at, t.slug
    FROM tenant_cursor c JOIN tenant t ON t.id = c.tenant_id AND t.amqp AND t.active
    WHERE c.holder IS NULL OR c.expires_at < {_NOW}
    ORDER BY c.expires_at, t.slug LIMIT $2
    FOR UPDATE OF c SKIP LOCKED
)
UPDATE tenant_cursor c SET holder = $1, epoch = c.epoch + 1, expires_at = {_NOW} + $3
FROM free WHERE c.tenant_id = free.tenant_id
RETURNING c.tenant_id, free.slug, c.seq, c.epoch, free.holder AS former,
    CASE WHEN c.epoch > 1 THEN {_NOW} - free.expires_at ELSE 0 END AS idle
"""
_RENEW = f"""
UPDATE tenant_cursor c SET expires_at = {_NOW} + $2
FROM tenant t
WHERE c.holder = $1 AND c.expires_at >= {_NOW} AND t.id = c.tenant_id AND t.amqp AND t.active
RETURNING c.tenant_id, c.epoch
"""
_CHECKPOINT = """
UPDATE tenant_cursor c SET seq = mark.seq
FROM unnest($2::uuid[], $3::int[], $4::bigint[]) AS mark (tenant_id, epoch, seq)
WHERE c.tenant_id = mark.tenant_id AND c.epoch = mark.epoch AND c.holder = $1
RETURNING c.tenant_id
"""
_RELEASE = f"""
UPDATE tenant_cursor SET holder = NULL, expires_at = {_NOW}
WHERE holder = $1 AND tenant_id = ANY ($2::uuid[])
"""
_STANDING = f"""
SELECT t.slug, c.seq, c.holder, c.epoch, c.expires_at - {_NOW} AS remaining,
    (SELECT count(DISTINCT x.envelope_seq) FROM change x WHERE x.seq > c.seq AND x.message <> '') AS behind,
    (SELECT {_NOW} - min(x.at) FROM change x WHERE x.seq > c.seq AND x.message <> '') AS oldest
FROM tenant_cursor c JOIN tenant t ON t.id = c.tenant_id ORDER BY t.slug
"""


class Taken(msgspec.Struct, frozen=True):
    """A tenant that is ours now, to be told from `seq` on.

    `former` is the holder who lost it without letting go, or None; `idle` is for how many ms nobody held
    it (0 for a tenant that nobody ever held).
    """

    tenant_id: UUID
    slug: str
    seq: int
    epoch: int
    former: str | None
    idle: int


class Standing(msgspec.Struct, frozen=True):
    """One tenant's place: `behind` envelopes not yet told, the `oldest` of them written so many ms ago
    (None when there is none); `remaining` ms of the holder's lease."""

    slug: str
    seq: int
    holder: str | None
    epoch: int
    remaining: int
    behind: int
    oldest: int | None


async def admit(tx: Tx) -> None:
    """Give every tenant with a vhost a cursor; a new one begins at the present."""
    await tx.execute(_ADMIT)


async def take(tx: Tx, holder: str, limit: int, lease: int) -> list[Taken]:
    """Up to `limit` tenants that nobody holds (any more), for `lease` ms."""
    return [Taken(**row) for row in await tx.fetch(_TAKE, holder, limit, lease)]


async def renew(tx: Tx, holder: str, lease: int) -> dict[UUID, int]:
    """Every tenant that is still `holder`'s, with its epoch, now for `lease` ms more. A lease that has
    run out is lost, whether or not somebody took it."""
    return {row["tenant_id"]: row["epoch"] for row in await tx.fetch(_RENEW, holder, lease)}


async def checkpoint(tx: Tx, holder: str, marks: Mapping[UUID, tuple[int, int]]) -> set[UUID]:
    """Move cursors, by tenant to (epoch, seq); the tenants that took it: those missing are no longer ours."""
    tenants = list(marks)
    epochs = [epoch for epoch, _ in marks.values()]
    seqs = [seq for _, seq in marks.values()]
    return {row["tenant_id"] for row in await tx.fetch(_CHECKPOINT, holder, tenants, epochs, seqs)}


async def release(tx: Tx, holder: str, tenants: Collection[UUID]) -> None:
    """Let go of `tenants`, of which nothing is in flight any more."""
    await tx.execute(_RELEASE, holder, list(tenants))


async def holders(tx: Tx, kind: str, since: int) -> int:
    """How many workers of `kind` have beaten since then (ms)."""
    count: int = await tx.value("SELECT count(*) FROM worker_beat WHERE kind = $1 AND at >= $2", kind, since)
    return count


async def demand(tx: Tx) -> int:
    """How many tenants there are to be told."""
    count: int = await tx.value("SELECT count(*) FROM tenant WHERE amqp AND active")
    return count


async def standings(tx: Tx) -> list[Standing]:
    """Where every tenant stands, by slug."""
    return [Standing(**row) for row in await tx.fetch(_STANDING)]
