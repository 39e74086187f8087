"""How far each tenant has been told, and who tells it: leases over `tenant_cursor`.

A lease is a holder's name and an epoch with an end. Whoever takes a lease raises the epoch, so that a
checkpoint of an earlier holder changes nothing. Times are the database's, so that processes on machines
with different clocks agree.
"""

from collections.abc import Collection, Mapping
from uuid import UUID

import msgspec

from app.store.sql import NOW
from app.store.transaction import Tx

_ADMIT = f"""
INSERT INTO tenant_cursor (tenant_id, seq, said_at)
SELECT id, (SELECT coalesce(max(seq), 0) FROM change), {NOW} FROM tenant WHERE amqp AND active
ON CONFLICT (tenant_id) DO NOTHING
"""
_TAKE = f"""
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
    CASE WHEN c.epoch > 1 THEN greatest(0, {NOW} - c.said_at) ELSE 0 END AS silent, c.dropped, c.told_dead,
    c.owed, c.bound
"""
_RENEW = f"""
UPDATE tenant_cursor c SET expires_at = {NOW} + $2
FROM tenant t
WHERE c.holder = $1 AND c.expires_at >= {NOW} AND t.id = c.tenant_id AND t.amqp AND t.active
RETURNING c.tenant_id, c.epoch
"""
_CHECKPOINT = """
UPDATE tenant_cursor c SET seq = mark.seq, owed = mark.owed
FROM unnest($2::uuid[], $3::int[], $4::bigint[], $5::bool[]) AS mark (tenant_id, epoch, seq, owed)
WHERE c.tenant_id = mark.tenant_id AND c.epoch = mark.epoch AND c.holder = $1
RETURNING c.tenant_id
"""
_RELEASE = f"""
UPDATE tenant_cursor SET holder = NULL, expires_at = {NOW}
WHERE holder = $1 AND tenant_id = ANY ($2::uuid[])
"""
_LOSS_MILLIS = 300_000  #: so long after its last loss a tenant counts as losing messages
_LOSING = f"(c.owed OR c.dropped_at > {NOW} - {_LOSS_MILLIS})"
_MOST = 100_000  #: so many envelopes behind are counted, no more
_STATUS = f"""
SELECT t.slug, c.seq, c.holder, c.epoch, c.expires_at - {NOW} AS remaining, c.state, c.dropped,
    greatest(0, {NOW} - c.said_at) AS silent,
    (SELECT count(*) FROM (
        SELECT FROM change x WHERE x.seq > c.seq AND x.seq = x.envelope_seq AND x.message <> '' LIMIT {_MOST}
    ) AS untold) AS behind,
    (SELECT {NOW} - x.at FROM change x WHERE x.seq > c.seq AND x.message <> ''
        ORDER BY x.seq LIMIT 1) AS oldest
FROM tenant_cursor c JOIN tenant t ON t.id = c.tenant_id AND t.amqp AND t.active ORDER BY t.slug
"""


_NOTE = f"""
UPDATE tenant_cursor c
SET state = note.state, said_at = greatest(c.said_at, {NOW} - note.silent), dropped = note.dropped,
    told_dead = note.told_dead, owed = note.owed, bound = note.bound,
    dropped_at = CASE WHEN note.dropped > c.dropped THEN {NOW} ELSE c.dropped_at END,
    dropped_before = CASE WHEN {_LOSING} THEN c.dropped_before ELSE c.dropped END
FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bool[], $8::text[])
    AS note (tenant_id, state, silent, dropped, told_dead, owed, bound)
WHERE c.tenant_id = note.tenant_id AND c.holder = $1
RETURNING c.tenant_id
"""
_SILENT = f"""
SELECT count(*) AS all, count(*) FILTER (WHERE c.said_at < {NOW} - $1::bigint) AS silent
FROM tenant_cursor c JOIN tenant t ON t.id = c.tenant_id AND t.amqp AND t.active
"""


class LeasedTenant(msgspec.Struct, frozen=True):
    """A tenant that is ours now, to be told from `seq` on.

    `former` is the holder who lost it without letting go, or None; `silent` is for how many ms it has not
    been told `alive` (0 for a tenant that nobody ever held); `dropped`, `told_dead`, `owed` and `bound` are
    what the former holder noted last.
    """

    tenant_id: UUID
    slug: str
    seq: int
    epoch: int
    former: str | None = None
    silent: int = 0
    dropped: int = 0
    told_dead: int = -1
    owed: bool = False
    bound: str = ""


class Checkpoint(msgspec.Struct, frozen=True):
    """How far a tenant has been told in a holder's `epoch`; `owed`: it has missed something before `seq`
    that it has not been told of."""

    epoch: int
    seq: int
    owed: bool


class Note(msgspec.Struct, frozen=True):
    """What the holder of a tenant sees of it: `state` of the connection ("" while it works), for how many
    ms `alive` has not been said, how many messages its queues have lost in all, and the last ingest
    worker's beat for whose end it was told `subscribed="0"` (-1: none); `owed` as in `Checkpoint`;
    `bound`: the queues that live messages are routed to, as a JSON list, "" when there never was one."""

    state: str
    silent: int
    dropped: int
    told_dead: int
    owed: bool
    bound: str = ""


class CursorStatus(msgspec.Struct, frozen=True):
    """One tenant's place: `behind` envelopes not yet told, the `oldest` of them written so many ms ago
    (None when there is none); `remaining` ms of the holder's lease; the rest as in `Note`."""

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
    """What a tenant misses: so many messages its queues have `dropped` since it counts as losing some.
    `unbound`: no queue takes live messages now, though there was one."""

    slug: str
    dropped: int
    unbound: bool


async def create_missing(tx: Tx) -> None:
    """Give every tenant with a vhost a cursor; a new one begins at the present."""
    await tx.execute(_ADMIT)


async def take(tx: Tx, holder: str, limit: int, lease: int) -> list[LeasedTenant]:
    """Up to `limit` tenants that nobody holds (any more), for `lease` ms."""
    return [LeasedTenant(**row) for row in await tx.fetch(_TAKE, holder, limit, lease)]


async def renew(tx: Tx, holder: str, lease: int) -> dict[UUID, int]:
    """Every tenant that is still `holder`'s, with its epoch, now for `lease` ms more. A lease that has
    run out is lost, whether or not somebody took it."""
    return {row["tenant_id"]: row["epoch"] for row in await tx.fetch(_RENEW, holder, lease)}


async def checkpoint(tx: Tx, holder: str, marks: Mapping[UUID, Checkpoint]) -> set[UUID]:
    """Move cursors, by tenant; the tenants that took it: those missing are no longer ours."""
    columns = zip(*(msgspec.structs.astuple(mark) for mark in marks.values()), strict=True)
    taken = await tx.fetch(_CHECKPOINT, holder, list(marks), *map(list, columns))
    return {row["tenant_id"] for row in taken}


async def release(tx: Tx, holder: str, tenants: Collection[UUID]) -> None:
    """Let go of `tenants`, of which nothing is in flight any more."""
    await tx.execute(_RELEASE, holder, list(tenants))


async def note(tx: Tx, holder: str, notes: Mapping[UUID, Note]) -> set[UUID]:
    """Keep what `holder` sees of its tenants, for whoever looks and for who holds them next; the tenants that
    took it: those missing are no longer ours."""
    if not notes:
        return set()
    columns = zip(*(msgspec.structs.astuple(each) for each in notes.values()), strict=True)
    taken = await tx.fetch(_NOTE, holder, list(notes), *map(list, columns))
    return {row["tenant_id"] for row in taken}


async def losses(tx: Tx) -> list[MessageLoss]:
    """The tenants that have lost messages within the last five minutes, or are yet to be told that they
    missed something."""
    rows = await tx.fetch(
        f"""
        SELECT t.slug, c.dropped - c.dropped_before AS dropped, c.bound = '[]' AS unbound FROM tenant_cursor c
        JOIN tenant t ON t.id = c.tenant_id AND t.amqp AND t.active
        WHERE {_LOSING}
        """
    )
    return [MessageLoss(**row) for row in rows]


async def silent_count(tx: Tx, millis: int) -> tuple[int, int]:
    """How many tenants have not been told `alive` for `millis`, and how many there are to be told."""
    (row,) = await tx.fetch(_SILENT, millis)
    return row["silent"], row["all"]


async def holder_count(tx: Tx, kind: str, since: int) -> int:
    """How many workers of `kind` have beaten since then (ms)."""
    count: int = await tx.value("SELECT count(*) FROM worker_beat WHERE kind = $1 AND at >= $2", kind, since)
    return count


async def tenant_count(tx: Tx) -> int:
    """How many tenants there are to be told."""
    count: int = await tx.value("SELECT count(*) FROM tenant WHERE amqp AND active")
    return count


async def statuses(tx: Tx) -> list[CursorStatus]:
    """Where every tenant stands, by slug."""
    return [CursorStatus(**row) for row in await tx.fetch(_STATUS)]
