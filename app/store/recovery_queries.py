"""What a recovery replays, read in short pages.

Reading a match locks its row and assigns a new timestamp in the same statement, so that what is read is
exactly the state at that timestamp; every writer of a match locks that row first. Rows are locked in the
order of match numbers, so that two recoveries cannot deadlock.
"""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select

from app.domain.match import Match, Status
from app.domain.settlement import LedgerEntry
from app.kit.grouping import grouped
from app.store import notifications
from app.store.matches import MatchPosition
from app.store.prepared import reading_ids, reading_rows
from app.store.sql import OPEN_CODES, any_of, booked, literals
from app.store.statements import claims, reads
from app.store.tables.match import LedgerEntry as Entry
from app.store.tables.match import Market
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Tx

_decode = msgspec.json.Decoder(Match).decode
_entry = msgspec.json.Decoder(LedgerEntry).decode
_OPEN = MatchTable.status.is_in(literals((Status.DISCOVERED, Status.UPCOMING, Status.LIVE)))
_OVER = MatchTable.status.not_in(literals((Status.DISCOVERED, Status.UPCOMING, Status.LIVE)))


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


@reading_ids
def open_matches(tenant_id: UUID, /) -> Select[Any]:
    """The booked matches that are not over, by number."""
    return MatchTable.select(MatchTable.id).where(_OPEN, booked(tenant_id)).order_by(MatchTable.number)


@reading_ids
def reopened_matches(tenant_id: UUID, /) -> Select[Any]:
    """The booked matches that are over and have an open market: its result was rolled back. By number."""
    with_open = Market.select(Market.match_id).where(Market.status.is_in(OPEN_CODES))
    query = MatchTable.select(MatchTable.id).where(_OVER, booked(tenant_id), MatchTable.id.is_in(with_open))
    return query.order_by(MatchTable.number)


@reading_ids
def ended_matches(tenant_id: UUID, after: int, /) -> Select[Any]:
    """The booked matches whose end, or a settlement, void or rollback of a market, was published after
    `after` (ms); by number."""
    settled = Entry.select(Entry.match_id).where(Entry.at > after)
    published = (MatchTable.closed_at > after) | MatchTable.id.is_in(settled)
    query = MatchTable.select(MatchTable.id).where(_OVER, booked(tenant_id), published)
    return query.order_by(MatchTable.number)


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
        for row in await tx.fetch(claims.ASSIGN_TIMESTAMPS, list(match_ids), now)
    ]
    await notifications.notify_timestamps(tx, (each.match for each in found))
    return sorted(found, key=lambda match: match.number)


@reading_rows(lambda row: MatchPosition(**row))
def last_seqs(match_ids: Collection[UUID], /) -> Select[Any]:
    """The last seq of each of these matches, without locking any or assigning a timestamp."""
    query = MatchTable.select(MatchTable.id, MatchTable.number, MatchTable.last_seq.as_alias("seq"))
    return query.where(any_of(MatchTable.id, match_ids))


async def ledger(tx: Tx, read: Mapping[UUID, int], after: int) -> dict[UUID, list[LedgerEntry]]:
    """The ledger's entries after `after` (ms), in order, for each match up to the seq at which it was
    read."""
    rows = await tx.fetch(reads.LEDGER_UP_TO, list(read), list(read.values()), after)
    return grouped((row["match_id"], _entry(row["body"])) for row in rows)


async def fixture_changes(tx: Tx, tenant_id: UUID, after: int) -> list[PastFixtureChange]:
    """The fixture changes of booked matches after `after` (ms), in order."""
    return [PastFixtureChange(**row) for row in await tx.fetch(reads.FIXTURE_CHANGES, tenant_id, after)]
