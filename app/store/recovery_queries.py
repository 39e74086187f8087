"""What a recovery replays, read in short pages.

Reading a match locks its row and assigns a new timestamp in the same statement, so that what is read is
exactly the state at that timestamp; every writer of a match locks that row first. Rows are locked in the
order of match numbers, so that two recoveries cannot deadlock.
"""

from collections.abc import Collection, Mapping
from uuid import UUID

import msgspec

from app.domain.match import Match, Status
from app.domain.recovery import LATE_MILLIS
from app.domain.settlement import LedgerEntry
from app.store import cache_invalidation
from app.store.matches import MatchPosition
from app.store.sql import booked
from app.store.transaction import Tx

_decode = msgspec.json.Decoder(Match).decode
_entry = msgspec.json.Decoder(LedgerEntry).decode
_OPEN = f"('{Status.DISCOVERED}', '{Status.UPCOMING}', '{Status.LIVE}')"

_BOOKED = booked("$1")
_PRESENT = f"SELECT m.id FROM match m WHERE m.status IN {_OPEN} AND {_BOOKED} ORDER BY m.number"
#: Matches that a process of version 0.1.0 closed have no `closed_at`, and `finished_at` is their log's time.
_ENDED = f"""
SELECT m.id FROM match m WHERE m.status NOT IN {_OPEN} AND {_BOOKED} AND (
    m.closed_at > $2::bigint
    OR (m.closed_at IS NULL AND m.finished_at > $2 - {LATE_MILLIS})
    OR m.id IN (SELECT e.match_id FROM ledger_entry e WHERE e.at > $2)
)
ORDER BY m.number
"""
_STAMP = """
WITH locked AS (SELECT id FROM match WHERE id = ANY($1) ORDER BY number FOR UPDATE)
UPDATE match m SET last_stamp = greatest($2::bigint, m.last_stamp + 1) FROM locked WHERE m.id = locked.id
RETURNING m.id, m.number, m.status, m.state, m.last_stamp, m.last_seq
"""
_LEDGER = """
SELECT e.match_id, e.body
FROM unnest($1::uuid[], $2::bigint[]) AS read (match_id, seq)
JOIN ledger_entry e ON e.match_id = read.match_id AND e.id <= read.seq AND e.at > $3
ORDER BY e.match_id, e.id
"""
_FIXTURES = f"""
SELECT c.number, c.at, c.envelope_seq AS seq, c.body
FROM (
    SELECT seq, match_id, number, at, envelope_seq, body FROM change
    WHERE message = 'fixture_change' AND at > $2
    UNION ALL
    SELECT seq, match_id, number, at, envelope_seq, body FROM past_fixture WHERE at > $2
) AS c JOIN match m ON m.id = c.match_id
WHERE {_BOOKED}
ORDER BY c.seq
"""


class TimestampedMatch(msgspec.Struct, frozen=True):
    """A match as it was at `timestamp` (ms), after the change `seq`."""

    id: UUID
    number: int
    over: bool
    timestamp: int
    seq: int
    state: bytes

    @property
    def match(self) -> Match:
        """Decoded at each use: it may be large."""
        return _decode(self.state)


class PastFixtureChange(msgspec.Struct, frozen=True):
    """A published fixture change: `at` is its envelope's timestamp, `body` the change's."""

    number: int
    at: int
    seq: int
    body: bytes


async def open_matches(tx: Tx, tenant_id: UUID) -> list[UUID]:
    """The booked matches that are not over, by number."""
    return [row["id"] for row in await tx.fetch(_PRESENT, tenant_id)]


async def ended_matches(tx: Tx, tenant_id: UUID, after: int) -> list[UUID]:
    """The booked matches whose end, or a settlement, void or rollback of a market, was published after
    `after` (ms); by number."""
    return [row["id"] for row in await tx.fetch(_ENDED, tenant_id, after)]


async def assign_timestamps(tx: Tx, match_ids: Collection[UUID], now: int) -> list[TimestampedMatch]:
    """Lock these matches and assign each a new timestamp, max(`now`, its last + 1); by number. What is read
    of them in the same transaction is their state at that timestamp. Cached bodies that show the old one are
    invalidated."""
    found = [
        TimestampedMatch(
            id=row["id"],
            number=row["number"],
            over=Status(row["status"]) in (Status.FINISHED, Status.CANCELLED),
            timestamp=row["last_stamp"],
            seq=row["last_seq"],
            state=row["state"],
        )
        for row in await tx.fetch(_STAMP, list(match_ids), now)
    ]
    await cache_invalidation.notify_timestamps(tx, (each.match for each in found))
    return sorted(found, key=lambda match: match.number)


async def last_seqs(tx: Tx, match_ids: Collection[UUID]) -> list[MatchPosition]:
    """The last seq of each of these matches, without locking any or assigning a timestamp."""
    rows = await tx.fetch("SELECT id, number, last_seq AS seq FROM match WHERE id = ANY($1)", list(match_ids))
    return [MatchPosition(**row) for row in rows]


async def ledger(tx: Tx, read: Mapping[UUID, int], after: int) -> dict[UUID, list[LedgerEntry]]:
    """The ledger's entries after `after` (ms), in order, for each match up to the seq at which it was
    read."""
    found: dict[UUID, list[LedgerEntry]] = {}
    for row in await tx.fetch(_LEDGER, list(read), list(read.values()), after):
        found.setdefault(row["match_id"], []).append(_entry(row["body"]))
    return found


async def fixture_changes(tx: Tx, tenant_id: UUID, after: int) -> list[PastFixtureChange]:
    """The fixture changes of booked matches after `after` (ms), in order."""
    return [PastFixtureChange(**row) for row in await tx.fetch(_FIXTURES, tenant_id, after)]
