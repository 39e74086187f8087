"""The changes of matches beyond the change log: kept when the log is pruned (`changes.prune`), compressed, as
many rows of a match together as one transaction pruned.

    oldest change of the match   kept   │   in the change log   newest

A match is *whole* while every envelope from its first one on is here or in the log: each one names the one
before it, and the match its last one, so that a gap shows (an earlier version pruned without keeping, or a
database was restored).
"""

import asyncio
import zlib
from collections.abc import Collection
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Delete, Select

from app.domain.match import Status
from app.domain.recovery import LATE_MILLIS
from app.domain.replay import ReplayableMatch
from app.store.changes import ChangeRow
from app.store.prepared import prepared, writing
from app.store.statements import change_log as statements
from app.store.tables.change import KeptChange
from app.store.transaction import Tx

NEWEST = 2**63 - 1  #: above every moment and number
PAGE = 2_000  #: rows of the change log in a page; what is kept together is no longer


class KeptRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A row as `statements.change_log.PRUNE_KEEPING` writes it."""

    seq: int
    entity: str
    key: str
    frame: str
    message: str
    at: int
    envelope_seq: int
    prev_seq: int
    arrived_at: int
    body: msgspec.Raw


_decode = msgspec.json.Decoder(list[KeptRow]).decode


async def read(tx: Tx, match_id: UUID, after: int = 0, limit: int = PAGE) -> list[ChangeRow]:
    """The next changes of the match with a higher seq than `after`, in order and in whole envelopes, with
    those for one tenant alone; none at its end. `tx` must be a snapshot: changes may move from the log to
    what is kept at any time. The last row's seq is where the next page begins; a page is about `limit` rows
    of the log, or what was kept together."""
    kept = await tx.first(_next(match_id, after))
    if kept is None:
        return [ChangeRow(**row) for row in await tx.fetch(statements.READ_OF_MATCH, match_id, after, limit)]
    rows = await asyncio.to_thread(unpack, kept["body"])
    return [
        ChangeRow(
            match_id=match_id,
            number=kept["number"],
            body=bytes(row.body),
            **{name: getattr(row, name) for name in _COPIED},
        )
        for row in rows
        if row.seq > after
    ]


def unpack(body: bytes) -> list[KeptRow]:
    """The rows that were kept together."""
    return _decode(zlib.decompress(body))


async def whole(tx: Tx, match_ids: Collection[UUID]) -> set[UUID]:
    """Those of these matches of which every envelope is kept or still in the change log."""
    return {row["match_id"] for row in await tx.fetch(statements.WHOLE, list(match_ids))}


class ReplayablePage(msgspec.Struct, frozen=True):
    """A page of such matches, newest first; `following` is where the next one begins, None for the last."""

    rows: list[ReplayableMatch]
    following: tuple[int, int] | None


async def replayable(
    tx: Tx,
    tenant_id: UUID,
    limit: int,
    after: tuple[int, int] = (NEWEST, NEWEST),
    *,
    finished_only: bool = False,
) -> ReplayablePage:
    """At most `limit` of the matches that the tenant can replay: that are over, or finished, kept whole, and
    booked."""
    statuses = [Status.FINISHED] if finished_only else [Status.FINISHED, Status.CANCELLED]
    found = await tx.fetch(statements.REPLAYABLE, tenant_id, *after, limit + 1, LATE_MILLIS, statuses)
    rows = [ReplayableMatch(**row) for row in found[:limit]]
    complete = await whole(tx, [row.id for row in rows])
    following = (rows[-1].finished_at, rows[-1].number) if len(found) > limit else None
    return ReplayablePage([row for row in rows if row.id in complete], following)


@writing
def prune(before: int, /) -> Delete:
    """Delete the kept changes from before `before` (ms); how many parts."""
    return KeptChange.delete().where(KeptChange.at < before)


_COPIED = [name for name in KeptRow.__struct_fields__ if name != "body"]


@prepared
def _next(match_id: UUID, after: int) -> Select[Any]:
    query = KeptChange.select(KeptChange.number, KeptChange.body)
    of_match = (KeptChange.match_id == match_id, KeptChange.last_seq > after)
    return query.where(*of_match).order_by(KeptChange.last_seq).limit(1)
