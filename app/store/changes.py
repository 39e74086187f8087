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

from app.domain.match import Match
from app.domain.settlement import LedgerEntry, VoidWindow
from app.kit.errors import NotFound
from app.store.transaction import Tx

CHANNEL = "changes"  #: NOTIFY channel; the payload is the highest new seq


class ChangeDraft(msgspec.Struct, frozen=True):
    """A change without a seq yet.

    `entity`: match, round, event, scoreboard, market or settlement; `key` names it within the match. `frame`
    is the WebSocket frame's type or "", `message` the feed message that carries it or "". `body` is the
    domain struct as msgspec's JSON: Market, TimelineEvent; of a match MatchSummary, or FixtureChange under
    `fixture_change`; of a round RoundLive when it begins, else Round; of a scoreboard nothing (`{}`), for it
    is read from the match. A settlement has its `entry` instead, whose `id` and `at` are not set yet.
    """

    entity: str
    key: str
    frame: str
    message: str
    body: bytes = b""
    entry: LedgerEntry | None = None


class ChangeRow(msgspec.Struct, frozen=True):
    """A change in the log. `number` is the match's; `at` the envelope's timestamp in ms; `prev_seq` the
    `envelope_seq` of the match's previous feed envelope (0 for the first); `arrived_at` when the log lines
    that caused it arrived (ms, 0 if none did)."""

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


#: Seqs are assigned under the log's lock, which all other writers wait for, and what depends on them (seq,
#: timestamp, a settlement's own id) is computed in the same statement: with two the lock would be held
#: for one round trip more.
_APPEND = """
WITH assigned AS MATERIALIZED (
    SELECT * FROM take_change_numbers($1, $3)
), placed AS MATERIALIZED (
    SELECT assigned.first + own AS seq, assigned.first + last AS envelope_seq,
        CASE WHEN before < 0 THEN assigned.last_seq ELSE assigned.first + before END AS prev_seq,
        CASE envelopes WHEN 0 THEN greatest($4, assigned.last_stamp)
            ELSE greatest($4, assigned.last_stamp + 1) + envelopes - 1 END AS at,
        entity, key, frame, message, body, type_id, specifiers
    FROM assigned, unnest($5::int[], $6::int[], $7::int[], $8::int[], $9::text[], $10::text[], $11::text[],
        $12::text[], $13::json[], $14::int[], $15::text[])
        AS t (own, last, before, envelopes, entity, key, frame, message, body, type_id, specifiers)
), numbered AS MATERIALIZED (
    SELECT seq, envelope_seq, prev_seq, at, entity, key, frame, message, type_id, specifiers,
        CASE WHEN type_id IS NULL THEN body
            ELSE (format('{"id":%s,"at":%s,', seq, at) || substr(body::text, 2))::json END AS body
    FROM placed
), inserted AS (
    INSERT INTO change (seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body,
        arrived_at)
    SELECT seq, $1, $2, entity, key, frame, message, at, envelope_seq, prev_seq, body, $16 FROM numbered
), entries AS (
    INSERT INTO ledger_entry (id, at, type_id, specifiers, body, match_id)
    SELECT seq, at, type_id, specifiers, body, $1 FROM numbered WHERE type_id IS NOT NULL
), newest AS (
    SELECT at, envelope_seq FROM numbered WHERE message <> '' ORDER BY seq DESC LIMIT 1
), stamped AS (
    UPDATE match SET last_stamp = newest.at, last_seq = newest.envelope_seq,
        closed_at = CASE WHEN status IN ('finished', 'cancelled') THEN coalesce(closed_at, newest.at) END
    FROM newest WHERE id = $1
)
SELECT coalesce((SELECT at FROM newest), assigned.last_stamp) AS last_stamp,
    coalesce((SELECT envelope_seq FROM newest), assigned.last_seq) AS last_seq,
    pg_notify($17, (assigned.first + $3 - 1)::text)
FROM assigned
"""
_READ = """
SELECT seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body, arrived_at
FROM change WHERE seq > $1 AND seq <= (
    SELECT max(envelope_seq)
    FROM (SELECT envelope_seq FROM change WHERE seq > $1 ORDER BY seq LIMIT $2) AS page
)
ORDER BY seq
"""
_PRUNE = """
WITH page AS (SELECT seq, at, envelope_seq FROM change ORDER BY seq LIMIT $2),
deleted AS (
    DELETE FROM change WHERE seq < (
        SELECT min(seq) FROM page WHERE at >= $1 OR envelope_seq = (SELECT max(envelope_seq) FROM page)
    )
    RETURNING seq, match_id, number, entity, key, frame, message, at, envelope_seq, body
), numbered AS (
    INSERT INTO past_seq (match_id, kind, key, seq)
    SELECT match_id, kind, key, max(seq) FROM (
        SELECT match_id, seq, CASE frame WHEN '' THEN 'match' ELSE entity END AS kind,
            CASE entity WHEN 'market' THEN key ELSE '' END AS key
        FROM deleted WHERE NOT (entity = 'match' AND frame = '')
    ) AS pruned
    WHERE EXISTS (SELECT FROM match WHERE id = match_id AND status NOT IN ('finished', 'cancelled'))
    GROUP BY 1, 2, 3
    ON CONFLICT (match_id, kind, key) DO UPDATE SET seq = excluded.seq
), past_fixtures AS (
    INSERT INTO past_fixture (seq, match_id, number, at, envelope_seq, body)
    SELECT seq, match_id, number, at, envelope_seq, body FROM deleted WHERE message = 'fixture_change'
)
SELECT count(*) FROM deleted
"""
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
            _APPEND,
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
        raise NotFound(f"There is no match {match.id}.") from error
    assert row
    return msgspec.structs.replace(match, last_stamp=row["last_stamp"], last_seq=row["last_seq"])


async def read(tx: Tx, after: int, limit: int) -> list[ChangeRow]:
    """The changes with a higher seq than `after`, in order: the next `limit` rows, and the rest of the last
    one's envelope; none when there is nothing new."""
    return [ChangeRow(**row) for row in await tx.fetch(_READ, after, limit)]


async def head(tx: Tx) -> int:
    """The highest visible seq, 0 before the first change."""
    seq: int = await tx.value("SELECT coalesce(max(seq), 0) FROM change")
    return seq


async def oldest(tx: Tx) -> int:
    """The lowest seq in the log, 0 when it is empty: a cursor below `oldest - 1` may have missed changes."""
    seq: int = await tx.value("SELECT coalesce(min(seq), 0) FROM change")
    return seq


async def prune(tx: Tx, before: int, limit: int = 20_000) -> int:
    """Delete the oldest changes, of before `before` (ms), whole envelopes only and fewer than `limit`; the
    newest envelope always stays, so that `head` never falls. How many: none while another process prunes.
    Fixture changes move to `past_fixture`, where `recovery_queries` reads them until `prune_fixtures`; the
    newest seqs of open matches' entities to `past_seq`, where `stream_queries` reads them until
    `prune_seqs`."""
    if not await tx.value("SELECT pg_try_advisory_xact_lock($1)", _PRUNE_LOCK):
        return 0
    deleted: int = await tx.value(_PRUNE, before, limit)
    return deleted


async def prune_fixtures(tx: Tx, before: int) -> int:
    """Delete pruned fixture changes of before `before` (ms); how many."""
    return await tx.execute("DELETE FROM past_fixture WHERE at < $1", before)


async def prune_seqs(tx: Tx) -> int:
    """Delete the seqs of pruned changes of matches that are over; how many."""
    return await tx.execute(
        """
        DELETE FROM past_seq USING match
        WHERE match.id = past_seq.match_id AND match.status IN ('finished', 'cancelled')
        """
    )


def _draft_positions(drafts: Sequence[ChangeDraft]) -> list[_DraftPosition]:
    positions: list[_DraftPosition] = []
    before, envelopes = -1, 0
    for (message, _), group in groupby(drafts, key=_envelope):
        own = range(len(positions), len(positions) + len(list(group)))
        if message:
            envelopes += 1
            positions += [_DraftPosition(each, own[-1], before, envelopes) for each in own]
            before = own[-1]
        else:
            positions += [_DraftPosition(each, each, before, envelopes) for each in own]
    return positions


def _envelope(draft: ChangeDraft) -> tuple[str, VoidWindow | None]:
    """What consecutive drafts of one envelope share."""
    return draft.message, draft.entry.void_window if draft.entry else None
