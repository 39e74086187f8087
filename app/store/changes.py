"""The change log: what every channel is told from, one row a changed entity, in commit order.

A row's `seq` is given out under one lock that is held until its transaction is visible, so that whoever
reads up to a number has seen all below it: one integer is a safe cursor. Rows that go out in one feed
envelope lie side by side and share `envelope_seq` (the highest of their numbers) and the stamp `at`.
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
    """A change not yet numbered.

    `entity`: match, round, event, scoreboard, market or settlement; `key` names it within the match. `frame`
    is the WebSocket frame's type or "", `message` the feed message that tells it or "". `body` is the domain
    struct as msgspec's JSON: Market, TimelineEvent; of a match MatchSummary, or FixtureChange under
    `fixture_change`; of a round RoundLive when it begins, else Round; of a scoreboard nothing (`{}`), for it
    is read from the match. A settlement has its `entry` instead, whose `id` and `at` are yet to be given.
    """

    entity: str
    key: str
    frame: str
    message: str
    body: bytes = b""
    entry: LedgerEntry | None = None


class ChangeRow(msgspec.Struct, frozen=True):
    """A change as told. `number` is the match's; `at` the envelope's timestamp in ms; `prev_seq` the
    `envelope_seq` of the match's feed envelope before this one (0 when this is the first); `arrived_at`
    when the log lines that it follows from came to us (ms, 0 where it follows from none)."""

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
    """Where a draft stands among those that are appended with it: its own place, that of its envelope's last
    draft, that of the last of the envelope before it (-1: that is an earlier transaction's), and how many
    envelopes begin before it or with it."""

    own: int
    last: int
    before: int
    envelopes: int


#: The numbers are taken under the log's lock, which all other writers wait for, and what hangs on them (seq,
#: stamp, a settlement's own id) is filled in here: asked for first and written then, the lock would be held
#: for a question more.
_APPEND = """
WITH taken AS MATERIALIZED (
    SELECT * FROM take_change_numbers($1, $3)
), placed AS MATERIALIZED (
    SELECT taken.first + own AS seq, taken.first + last AS envelope_seq,
        CASE WHEN before < 0 THEN taken.last_seq ELSE taken.first + before END AS prev_seq,
        CASE envelopes WHEN 0 THEN greatest($4, taken.last_stamp)
            ELSE greatest($4, taken.last_stamp + 1) + envelopes - 1 END AS at,
        entity, key, frame, message, body, type_id, specifiers
    FROM taken, unnest($5::int[], $6::int[], $7::int[], $8::int[], $9::text[], $10::text[], $11::text[],
        $12::text[], $13::json[], $14::int[], $15::text[])
        AS t (own, last, before, envelopes, entity, key, frame, message, body, type_id, specifiers)
), numbered AS MATERIALIZED (
    SELECT seq, envelope_seq, prev_seq, at, entity, key, frame, message, type_id, specifiers,
        CASE WHEN type_id IS NULL THEN body
            ELSE (format('{"id":%s,"at":%s,', seq, at) || substr(body::text, 2))::json END AS body
    FROM placed
), told AS (
    INSERT INTO change (seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body,
        arrived_at)
    SELECT seq, $1, $2, entity, key, frame, message, at, envelope_seq, prev_seq, body, $16 FROM numbered
), settled AS (
    INSERT INTO ledger_entry (id, at, type_id, specifiers, body, match_id)
    SELECT seq, at, type_id, specifiers, body, $1 FROM numbered WHERE type_id IS NOT NULL
), newest AS (
    SELECT at, envelope_seq FROM numbered WHERE message <> '' ORDER BY seq DESC LIMIT 1
), stamped AS (
    UPDATE match SET last_stamp = newest.at, last_seq = newest.envelope_seq,
        closed_at = CASE WHEN status IN ('finished', 'cancelled') THEN coalesce(closed_at, newest.at) END
    FROM newest WHERE id = $1
)
SELECT coalesce((SELECT at FROM newest), taken.last_stamp) AS last_stamp,
    coalesce((SELECT envelope_seq FROM newest), taken.last_seq) AS last_seq,
    pg_notify($17, (taken.first + $3 - 1)::text)
FROM taken
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
gone AS (
    DELETE FROM change WHERE seq < (
        SELECT min(seq) FROM page WHERE at >= $1 OR envelope_seq = (SELECT max(envelope_seq) FROM page)
    )
    RETURNING seq, match_id, number, entity, key, frame, message, at, envelope_seq, body
), numbered AS (
    INSERT INTO past_seq (match_id, kind, key, seq)
    SELECT match_id, kind, key, max(seq) FROM (
        SELECT match_id, seq, CASE frame WHEN '' THEN 'match' ELSE entity END AS kind,
            CASE entity WHEN 'market' THEN key ELSE '' END AS key
        FROM gone WHERE NOT (entity = 'match' AND frame = '')
    ) AS told
    WHERE EXISTS (SELECT FROM match WHERE id = match_id AND status NOT IN ('finished', 'cancelled'))
    GROUP BY 1, 2, 3
    ON CONFLICT (match_id, kind, key) DO UPDATE SET seq = excluded.seq
), kept AS (
    INSERT INTO past_fixture (seq, match_id, number, at, envelope_seq, body)
    SELECT seq, match_id, number, at, envelope_seq, body FROM gone WHERE message = 'fixture_change'
)
SELECT count(*) FROM gone
"""
_PRUNER = 7232653  #: the advisory lock of whoever prunes
_encode = msgspec.json.Encoder().encode


async def append(tx: Tx, match: Match, drafts: Sequence[ChangeDraft], now: int, arrived_at: int = 0) -> Match:
    """Number, stamp and write `drafts`: the match with its new stamp and seq. Must be the transaction's last
    act, for every other writer waits until it has ended.

    Consecutive drafts of one non-empty message, and of one void window, form an envelope. Each envelope
    gets a stamp of its own, max(`now`, the match's last + 1); drafts without message get the latest stamp and
    use none up. Settlements also go to the ledger, with `id` and `at` filled in. The first envelopes of a
    match that is over say so, and their stamp is kept as the match's `closed_at`. Raises `NotFound` for an
    unknown match.
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
    """The changes with a higher seq than `after`, in order: the envelopes that the next `limit` rows
    belong to, each whole (so it may be some rows more); none means that there is nothing new."""
    return [ChangeRow(**row) for row in await tx.fetch(_READ, after, limit)]


async def head(tx: Tx) -> int:
    """The highest visible seq, 0 before the first change."""
    seq: int = await tx.value("SELECT coalesce(max(seq), 0) FROM change")
    return seq


async def tail(tx: Tx) -> int:
    """The lowest seq still kept, 0 when there is none: a cursor below `tail - 1` may have missed some."""
    seq: int = await tx.value("SELECT coalesce(min(seq), 0) FROM change")
    return seq


async def prune(tx: Tx, before: int, limit: int = 20_000) -> int:
    """Forget the oldest changes stamped before `before` (ms), whole envelopes only and fewer than `limit`;
    the newest envelope always stays, so that `head` never falls. How many went: none while another process
    is at it. Fixture changes move to where `replays` finds them until `prune_fixtures`, the newest numbers
    of what goes on to where `watching` finds them until `prune_numbers`."""
    if not await tx.value("SELECT pg_try_advisory_xact_lock($1)", _PRUNER):
        return 0
    gone: int = await tx.value(_PRUNE, before, limit)
    return gone


async def prune_fixtures(tx: Tx, before: int) -> int:
    """Forget fixture changes stamped before `before` (ms), for good. How many went."""
    return await tx.execute("DELETE FROM past_fixture WHERE at < $1", before)


async def prune_numbers(tx: Tx) -> int:
    """Forget the numbers of forgotten changes of matches that are over. How many went."""
    return await tx.execute(
        """
        DELETE FROM past_seq USING match
        WHERE match.id = past_seq.match_id AND match.status IN ('finished', 'cancelled')
        """
    )


def _draft_positions(drafts: Sequence[ChangeDraft]) -> list[_DraftPosition]:
    places: list[_DraftPosition] = []
    before, envelopes = -1, 0
    for (message, _), group in groupby(drafts, key=_envelope):
        own = range(len(places), len(places) + len(list(group)))
        if message:
            envelopes += 1
            places += [_DraftPosition(each, own[-1], before, envelopes) for each in own]
            before = own[-1]
        else:
            places += [_DraftPosition(each, each, before, envelopes) for each in own]
    return places


def _envelope(draft: ChangeDraft) -> tuple[str, VoidWindow | None]:
    """What consecutive drafts share that go into one envelope."""
    return draft.message, draft.entry.void_window if draft.entry else None
