"""What the stream reads: the change log, and the state when a poller starts.

All of it is read within one `Store.snapshot`, so that state and changes are consistent.
"""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from piccolo.query import Select

from app.store.changes import ChangeRow
from app.store.prepared import prepared
from app.store.statements import reads
from app.store.tables.change import Change
from app.store.tenant_rows import NO_MATCH
from app.store.transaction import Tx

_COLUMNS = (
    Change.seq,
    Change.match_id,
    Change.number,
    Change.entity,
    Change.key,
    Change.frame,
    Change.message,
    Change.at,
    Change.envelope_seq,
    Change.prev_seq,
    Change.body,
)
EntityKey = tuple[UUID, str, str]  #: match, kind of entity, a market's key


async def changes(tx: Tx, after: int, match_id: UUID | None, limit: int) -> list[ChangeRow]:
    """At most `limit` changes of one match, or of all, with a higher seq than `after`, in order."""
    whose = () if match_id is None else (match_id,)
    rows = await tx.run(_changes(after, *whose, limit=limit))
    found = [ChangeRow(**row) for row in rows]
    if found:
        tx.reached = found[-1].seq, found[-1].at
    return found


async def switched(tx: Tx, after: int) -> bool:
    """Whether a market type was switched for a tenant, or a booking changed, after the change `after`."""
    return bool(await changes(tx, after, NO_MATCH, 1))


async def relevant(tx: Tx) -> list[UUID]:
    """The matches that are live or have an active or suspended market."""
    rows = await tx.fetch(reads.STREAMED_MATCHES)
    return [row["id"] for row in rows]


async def newest_seqs(tx: Tx, ids: Collection[UUID]) -> dict[EntityKey, int]:
    """The newest seq of each entity of these matches: each market by its key, everything else by kind. A
    change without a frame of its own counts as a change of the match."""
    rows = await tx.fetch(reads.NEWEST_SEQS, list(ids))
    return {(row["match_id"], row["kind"], row["key"]): row["seq"] for row in rows}


@prepared
def _changes(after: int, *of_match: UUID, limit: int) -> Select[Any]:
    query = Change.select(*_COLUMNS).where(Change.seq > after)
    for match_id in of_match:
        query = query.where(Change.match_id == match_id)
    return query.order_by(Change.seq).limit(limit)
