"""Suspends what is on offer in a database that was restored, or may have lost commits: it lacks what has
happened since."""

from collections.abc import Sequence
from uuid import UUID

import msgspec
from msgspec.structs import replace

from app.commands import match_update
from app.domain.changes import DetailsChanged, MatchChange
from app.domain.doubts import (
    DATABASE_RESTORED,
    LOG_GAP,
    PROCESSING_STOPPED,
    RESTORED,
    SILENT,
    clear_doubt,
    raise_doubt,
)
from app.domain.facts import DataLost
from app.domain.ids import number_in_match_at
from app.domain.match import Match, Status
from app.domain.transitions import fold
from app.store import log_state, matches, restoration
from app.store.connections import Store
from app.store.transaction import Tx


class Suspended(msgspec.Struct, frozen=True):
    """Matches by number: suspended until their log is followed again or an operator decides (`doubted`), and
    until an ingest process runs (`waiting`)."""

    doubted: Sequence[int]
    waiting: Sequence[int]


async def suspend_unfinished(store: Store, now: int) -> Suspended:
    """Suspend every match that is not over. One that has begun, or should have, may have been played on or
    even have ended: only its log, or an operator, ends that. The others return when ingest runs."""
    async with store.autocommit() as tx:
        ids = await restoration.unfinished(tx)
    doubted, waiting = list[int](), list[int]()
    for match_id in ids:
        async with store.transaction() as tx:
            number, is_doubted = await suspend(tx, match_id, DATABASE_RESTORED, now)
        (doubted if is_doubted else waiting).append(number)
    return Suspended(doubted, waiting)


async def suspend(tx: Tx, match_id: UUID, reason: str, now: int) -> tuple[int, bool]:
    """Suspend one match that is not over; its number, and whether for a doubt that has this `reason`."""
    match = await matches.lock(tx, match_id)
    begun = match.status is Status.LIVE or (match.scheduled_at or 0) <= now
    if begun:
        await _declare_gap(tx, match)
    after, changes = _doubted(match, reason, now) if begun else _paused(match)
    after = _counting_from(after, number_in_match_at(now))
    await match_update.suspend_and_write(tx, match, after, changes, reason=after.suspended, now=now)
    return match.number, begun


def _counting_from(match: Match, number: int) -> Match:
    """Facts and commands that were lost have had the next numbers."""
    return replace(
        match,
        next_history_id=max(match.next_history_id, number),
        revision=max(match.revision, number),
    )


async def _declare_gap(tx: Tx, match: Match) -> None:
    """Lines are missing, also where the sender sends no offsets: the first round that begins ends that."""
    state = await log_state.get(tx, match.id)
    await tx.write([log_state.save_statement(replace(state, has_gap=True))])


def _doubted(match: Match, reason: str, now: int) -> tuple[Match, Sequence[MatchChange]]:
    # The suspension of an ingest outage ends by itself, also for a match with other reasons behind it.
    doubted = raise_doubt(clear_doubt(match, SILENT), RESTORED, reason)
    if match.status is not Status.LIVE:
        return doubted, (DetailsChanged(),)
    after, changes = fold(doubted, [DataLost(at=now, reason=LOG_GAP)])
    return after, (*changes, DetailsChanged())


def _paused(match: Match) -> tuple[Match, Sequence[MatchChange]]:
    return raise_doubt(match, SILENT, PROCESSING_STOPPED), (DetailsChanged(),)
