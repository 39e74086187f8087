"""What happens when the database fails over to a standby, before any process uses it.

After asynchronous replication the promoted server may lack what was committed last, and published. Whether it
does is not certain: a process that ended with the former primary may have published more than any other
knows. So each time the numbers go on above everything that can have been published, every tenant is notified
that it must recover, and every match that is not over is suspended until its log is followed again. An alert
says what is known to be lost.
"""

from collections.abc import Sequence
from uuid import UUID

from app.access.second_factor import last_usable_step
from app.domain.doubts import DATABASE_FAILED_OVER
from app.domain.ids import match_number_at, seq_at
from app.kit.clock import Clock, iso_millis, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.operations.restoration import suspension
from app.store import alerts, audit, restoration, timeline
from app.store.alerts import AlertKind, AlertSubject
from app.store.audit import AuditRecord
from app.store.restoration import KnownNumbers
from app.store.timeline import Change, Position
from app.store.transaction import Tx

_NOT_SUSPENDED = "the match could not be suspended when the database failed over"
ACTOR = "service"  #: the actor of the failover in the audit log
log = get_logger(__name__)


class DatabaseFailover:
    """`store.timeline.Failover`."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock

    async def go_on(self, tx: Tx, present: int, known: Position) -> int:
        """See `store.timeline.Failover`. One transaction: other processes see all of it or nothing."""
        now = self._clock()
        unfinished = await restoration.unfinished(tx, locked=True)
        numbers = await restoration.last_numbers(tx)
        at = max(now, numbers.newest_at + 1, known.at + 1)
        mark = await restoration.go_on_from(
            tx,
            # One more than is known: what a reader has reached must not border on the mark.
            max(numbers.seq, known.seq, seq_at(now)) + 1,
            max(numbers.match_number, match_number_at(now)),
            at,
            expelled=False,
        )
        await restoration.spend_codes(tx, last_usable_step(now))
        change = Change(mark, now, numbers.head, numbers.newest_at, known.seq, known.at)
        await timeline.store(tx, present, change)
        await _suspend(tx, unfinished, at)
        await _raise_alert(tx, present, change)
        await audit.add(tx, _record(present, change, numbers, unfinished))
        return mark

    async def report(self, tx: Tx, known: Position) -> None:
        """See `store.timeline.Failover`."""
        change = await timeline.raise_known(tx, known)
        if change is not None:
            await _raise_alert(tx, (await timeline.read(tx)).present, change)


async def _suspend(tx: Tx, unfinished: Sequence[UUID], now: int) -> None:
    """Suspend these matches. One that is broken has an alert, and must not stop the service."""
    for match_id in unfinished:
        try:
            async with restoration.savepoint(tx):
                await suspension.suspend(tx, match_id, DATABASE_FAILED_OVER, now)
        except Unavailable:
            raise
        except Exception as error:
            log.error("a match could not be suspended", match_id=str(match_id), exc_info=error)
            subject = AlertSubject(AlertKind.DATABASE_FAILOVER, match_id=match_id)
            await alerts.begin(tx, subject, _NOT_SUSPENDED, now)


async def _raise_alert(tx: Tx, present: int, change: Change) -> None:
    subject = AlertSubject(AlertKind.DATABASE_FAILOVER, subject=f"timeline {present}")
    await alerts.begin(tx, subject, lost(change), change.at)


def lost(change: Change) -> str:
    """What a change of the timeline has lost, for operators."""
    had = f"the new primary had everything up to seq {change.head} ({iso_millis(change.head_at)})"
    if not change.lost:
        return f"no process knows of a lost commit: {had}; the next is {change.mark}"
    until = iso_millis(change.known_at)
    return f"commits are lost, up to seq {change.known_seq} ({until}): {had}; the next is {change.mark}"


def _record(present: int, change: Change, numbers: KnownNumbers, unfinished: Sequence[UUID]) -> AuditRecord:
    details = {
        "timeline": present,
        "last_seq": change.head,
        "last_at": change.head_at,
        "known_seq": change.known_seq,
        "next_seq": change.mark,
        "unfinished_matches": len(unfinished),
        "last_match_number": numbers.match_number,
    }
    return AuditRecord(change.at, ACTOR, "database.failed_over", "database", None, details)
