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
from app.domain.settlement import LedgerEntry
from app.kit.errors import NotFound
from app.store.transaction import Tx

CHANNEL = "changes"  #: NOTIFY channel; the payload is the highest new seq


class Draft(msgspec.Struct, frozen=True):
    """A change not yet numbered.

    `entity`: match, round, event, scoreboard, market or settlement; `key` names it within the match. `frame`
    is the WebSocket frame's type or "", `message` the feed message that tells it or "". `body` is the domain
    struct as msgspec's JSON: Market, TimelineEvent; of a match Headline, or FixtureChange under
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


class _Place(NamedTuple):
    seq: int
    at: int
    envelope_seq: int
    prev_seq: int


_APPEND = """
WITH told AS (
    INSERT INTO change (seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body,
        arrived_at)
    SELECT t.seq, $1, $2, t.entity, t.key, t.frame, t.message, t.at, t.envelope_seq, t.prev_seq, t.body, $21
    FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[],
        $10::text[], $11::json[]) AS t (seq, at, envelope_seq, prev_seq, entity, key, frame, message, body)
), settled AS (
    INSERT INTO ledger_entry (id, at, type_id, specifiers, body, match_id)
    SELECT *, $1 FROM unnest($12::bigint[], $13::bigint[], $14::int[], $15::text[], $16::json[])
), stamped AS (
    UPDATE match SET last_stamp = $17, last_seq = $18 WHERE id = $1
)
SELECT pg_notify($19, $20)
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


async def append(tx: Tx, match: Match, drafts: Sequence[Draft], now: int, arrived_at: int = 0) -> Match:
    """Number, stamp and write `drafts`: the match with its new stamp and seq. Must be the transaction's last
    act, for every other writer waits until it has ended.

    Consecutive drafts of one non-empty message form an envelope. Each envelope gets a stamp of its own,
    max(`now`, the match's last + 1); drafts without message get the latest stamp and use none up.
    Settlements also go to the ledger, with `id` and `at` filled in. Raises `NotFound` for an unknown match.
    """
    if not drafts:
        return match
    first, last_stamp, last_seq = await _take(tx, match.id, len(drafts))
    places = _places(drafts, first, now, last_stamp, last_seq)
    settled = [_stamped(draft.entry, place) for draft, place in zip(drafts, places, strict=True)]
    bodies = [_encode(entry) if entry else each.body for each, entry in zip(drafts, settled, strict=True)]
    for draft, place in zip(drafts, places, strict=True):
        if draft.message:
            last_stamp, last_seq = place.at, place.envelope_seq
    await tx.execute(
        _APPEND,
        match.id,
        match.number,
        *(list(column) for column in zip(*places, strict=True)),
        *([getattr(draft, name) for draft in drafts] for name in ("entity", "key", "frame", "message")),
        bodies,
        *_ledger_columns(settled, bodies),
        last_stamp,
        last_seq,
        CHANNEL,
        str(places[-1].seq),
        arrived_at,
    )
    return msgspec.structs.replace(match, last_stamp=last_stamp, last_seq=last_seq)


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


async def _take(tx: Tx, match_id: UUID, wanted: int) -> tuple[int, int, int]:
    """Lock the match and the log; the first of `wanted` new numbers, the match's last stamp and seq."""
    try:
        (row,) = await tx.fetch("SELECT * FROM take_change_numbers($1, $2)", match_id, wanted)
    except asyncpg.NoDataFoundError as error:
        raise NotFound(f"There is no match {match_id}.") from error
    return row["first"], row["last_stamp"], row["last_seq"]


def _places(drafts: Sequence[Draft], first: int, now: int, last_stamp: int, last_seq: int) -> list[_Place]:
    """Seq, stamp, envelope and previous envelope of each draft, in order."""
    places: list[_Place] = []
    for message, group in groupby(drafts, key=lambda draft: draft.message):
        size = len(list(group))
        seqs = range(first + len(places), first + len(places) + size)
        if message:
            last_stamp = max(now, last_stamp + 1)
            places += [_Place(seq, last_stamp, seqs[-1], last_seq) for seq in seqs]
            last_seq = seqs[-1]
        else:
            places += [_Place(seq, max(now, last_stamp), seq, last_seq) for seq in seqs]
    return places


def _stamped(entry: LedgerEntry | None, place: _Place) -> LedgerEntry | None:
    return msgspec.structs.replace(entry, id=place.seq, at=place.at) if entry else None


def _ledger_columns(
    settled: Sequence[LedgerEntry | None], bodies: Sequence[bytes]
) -> tuple[list[object], ...]:
    ledger = [(entry, body) for entry, body in zip(settled, bodies, strict=True) if entry]
    return (
        [entry.id for entry, _ in ledger],
        [entry.at for entry, _ in ledger],
        [entry.type_id for entry, _ in ledger],
        [entry.specifiers for entry, _ in ledger],
        [body for _, body in ledger],
    )
