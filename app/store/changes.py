"""The change log, from which every channel publishes: one row per changed entity, in commit order.

A row's `seq` is assigned under one lock that is held until its transaction is visible, so that a reader that
has read up to a seq has read all below it: one integer is a safe cursor. Rows of one feed envelope are
consecutive and share `envelope_seq` (the highest of their seqs) and the timestamp `at`.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec
from piccolo.query import Delete, Select
from piccolo.query.functions import Coalesce, Max, Min

from app.domain.match import Match, Status
from app.domain.settlement import LedgerEntry, VoidWindow
from app.kit.errors import NotFound
from app.store.prepared import prepared, reading_number, writing
from app.store.sql import literals
from app.store.statements import change_log as statements
from app.store.statements import server
from app.store.tables.change import Change, PastFixture, PastSeq
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Tx

CHANNEL = "changes"  #: NOTIFY channel; the payload is the highest new seq


class ChangeDraft(msgspec.Struct, frozen=True):
    """A change without a seq yet.

    `entity`: match, round, event, scoreboard, market or settlement (`store.tenant_rows` has more);
    `key` names it within the match. `frame` is the WebSocket frame's type or "", `message` the feed message
    that carries it or "". `body` is the domain struct as msgspec's JSON: Market, TimelineEvent; of a match
    MatchSummary, or FixtureChange under `fixture_change`; of a round RoundLive when it begins, else Round; of
    a scoreboard nothing (`{}`), for it is read from the match. A settlement has its `entry` instead, whose
    `id` and `at` are not set yet.
    """

    entity: str
    key: str
    frame: str
    message: str
    body: bytes = b""
    entry: LedgerEntry | None = None


class ChangeRow(msgspec.Struct, frozen=True, gc=False):
    """A change in the log. `number` is the match's; `at` the envelope's timestamp in ms; `prev_seq` the
    `envelope_seq` of the match's previous feed envelope (0 for the first); `arrived_at` when the log lines
    that caused it arrived (ms, 0 if none did). The feed keeps tens of thousands of rows, which the garbage
    collector passes by."""

    seq: int
    match_id: UUID
    number: int
    entity: str
    key: str
    frame: str
    message: str
    at: int
    envelope_seq: int
    prev_seq: int
    body: bytes
    arrived_at: int = 0


class _DraftPosition(NamedTuple):
    """A draft's position among those appended with it: its own index, that of its envelope's last draft, that
    of the previous envelope's last draft (-1: in an earlier transaction), and the number of envelopes up to
    and including its own."""

    own: int
    last: int
    before: int
    envelopes: int


_PRUNE_LOCK = 7232653  #: the advisory lock for pruning
_encode = msgspec.json.Encoder().encode


async def append(tx: Tx, match: Match, drafts: Sequence[ChangeDraft], now: int, arrived_at: int = 0) -> Match:
    """Write `drafts` with their numbers and timestamps; returns the match with its new timestamp and seq.
    Must be the transaction's last statement, since every other writer waits until it has ended.

    Consecutive drafts of one non-empty message, and of one void window, form an envelope. Each envelope gets
    a timestamp of its own, max(`now`, the match's last + 1); drafts without a message get the latest
    timestamp and do not advance it. Settlements are also written to the ledger, with `id` and `at` filled in.
    The timestamp of the first envelopes after a match is over is stored as the match's `closed_at`. Raises
    `NotFound` for an unknown match.
    """
    if not drafts:
        return match
    entries = [draft.entry for draft in drafts]
    try:
        row = await tx.row(
            statements.APPEND,
            match.id,
            match.number,
            len(drafts),
            now,
            *(list(column) for column in zip(*_draft_positions(drafts), strict=True)),
            *([getattr(draft, name) for draft in drafts] for name in ("entity", "key", "frame", "message")),
            [_encode(draft.entry) if draft.entry else draft.body for draft in drafts],
            [entry.type_id if entry else None for entry in entries],
            [entry.specifiers if entry else None for entry in entries],
            arrived_at,
            CHANNEL,
        )
    except asyncpg.NoDataFoundError as error:
        raise NotFound(f"There is no match {match.id}.", code="no_match", match=match.id) from error
    assert row
    tx.reached = row["seq"], row["last_stamp"]
    return msgspec.structs.replace(match, last_stamp=row["last_stamp"], last_seq=row["last_seq"])


async def read(tx: Tx, after: int, limit: int) -> list[ChangeRow]:
    """The changes with a higher seq than `after`, in order: the next `limit` rows, and the rest of the last
    one's envelope; none when there is nothing new."""
    ids: dict[UUID, UUID] = {}  # asyncpg makes one of its own for each row
    rows = [
        ChangeRow(**{**row, "match_id": ids.setdefault(row["match_id"], row["match_id"])})
        for row in await tx.fetch(statements.READ, after, limit)
    ]
    if rows:
        tx.reached = rows[-1].seq, rows[-1].at
    return rows


@reading_number
def head() -> Select[Change]:
    """The highest visible seq, 0 before the first change."""
    return Change.select(Coalesce(Max(Change.seq), 0))


async def newest_stamp(tx: Tx) -> int:
    """The timestamp (ms) of the change with the highest visible seq, 0 before the first one."""
    stamp: int | None = await tx.one_value(_newest())
    return stamp or 0


@reading_number
def oldest() -> Select[Change]:
    """The lowest seq in the log, 0 when it is empty: a cursor below `oldest - 1` may have missed changes."""
    return Change.select(Coalesce(Min(Change.seq), 0))


async def prune(tx: Tx, before: int, limit: int = 20_000) -> int:
    """Delete the oldest changes, of before `before` (ms), whole envelopes only and fewer than `limit`; the
    newest envelope always stays, so that `head` never falls. How many: none while another process prunes.
    Fixture changes move to `past_fixture`, where `recovery_queries` reads them until `prune_fixtures`; the
    newest seqs of open matches' entities to `past_seq`, where `stream_queries` reads them until
    `prune_seqs`."""
    if not await tx.value(server.TRY_LOCK, _PRUNE_LOCK):
        return 0
    deleted: int = await tx.value(statements.PRUNE, before, limit)
    return deleted


@writing
def prune_fixtures(before: int, /) -> Delete:
    """Delete pruned fixture changes of before `before` (ms); how many."""
    return PastFixture.delete().where(PastFixture.at < before)


@writing
def prune_seqs() -> Delete:
    """Delete the seqs of pruned changes of matches that are over; how many."""
    over = MatchTable.select(MatchTable.id).where(
        MatchTable.status.is_in(literals((Status.FINISHED, Status.CANCELLED)))
    )
    return PastSeq.delete().where(PastSeq.match_id.is_in(over))


@prepared
def _newest() -> Select[Change]:
    return Change.select(Change.at).order_by(Change.seq, ascending=False).limit(1)


def _draft_positions(drafts: Sequence[ChangeDraft]) -> list[_DraftPosition]:
    positions: list[_DraftPosition] = []
    before, envelopes = -1, 0
    for (message, _), group in groupby(drafts, key=envelope_of):
        own = range(len(positions), len(positions) + len(list(group)))
        if message:
            envelopes += 1
            positions += [_DraftPosition(each, own[-1], before, envelopes) for each in own]
            before = own[-1]
        else:
            positions += [_DraftPosition(each, each, before, envelopes) for each in own]
    return positions


def envelope_of(draft: ChangeDraft) -> tuple[str, VoidWindow | None]:
    """What consecutive drafts of one envelope share."""
    return draft.message, draft.entry.void_window if draft.entry else None
