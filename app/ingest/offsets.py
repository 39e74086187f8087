"""Where a batch belongs in its sender's log, pure.

Within one run of the sender (`instance`) a range begins where the last one ended. The same bytes again
are a repeat; a later range waits for the missing one. So does the first range of another run that does
not begin that run's log: what comes before it may be on its way. A sender without offsets is taken as it
comes; ranges of a run that was left behind before their turn came are lost.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from app.ingest.batch import Batch
from app.store.log_state import LogState, PendingRange


def as_pending(batch: Batch) -> PendingRange | None:
    """The batch as a range, or None when its sender tells no offsets (or impossible ones)."""
    if not batch.instance or batch.begin is None or batch.end is None or not 0 <= batch.begin <= batch.end:
        return None
    return PendingRange(batch.instance, batch.begin, batch.end, batch.body, batch.arrived_at)


def is_repeat(source: LogState, message: str, given: PendingRange | None) -> bool:
    """Whether all of the batch with that id has been applied already; `given` is its range."""
    return message == source.last_message or (given is not None and _is_behind(source, given))


def follow(source: LogState, given: PendingRange) -> LogState:
    """The source, awaiting the beginning of this range's run when the range shows a run not seen before."""
    if _same_run(source, given) or not given.begin:
        return source
    return replace(source, instance=given.instance, next_offset=0)


def is_early(source: LogState, given: PendingRange) -> bool:
    """Whether bytes before it are still missing."""
    return _same_run(source, given) and source.next_offset is not None and given.begin > source.next_offset


def take(source: LogState, given: PendingRange) -> tuple[LogState, bytes]:
    """The source after this range, and the part of the range that is new."""
    new = given.body
    if _same_run(source, given) and source.next_offset is not None and given.begin < source.next_offset:
        new = given.body[-(given.end - source.next_offset) :] if given.end > source.next_offset else b""
    return replace(source, instance=given.instance, next_offset=given.end), new


def next_in_line(source: LogState, waiting: Sequence[PendingRange]) -> PendingRange | None:
    """The range whose turn has come among those held back, or None."""
    ready = (given for given in waiting if _same_run(source, given) and not is_early(source, given))
    return min(ready, key=lambda given: given.begin, default=None)


def first_waiting(source: LogState, waiting: Sequence[PendingRange]) -> PendingRange | None:
    """The earliest range of the present run that is held back: where to go on after a hole."""
    present = (given for given in waiting if _same_run(source, given))
    return min(present, key=lambda given: given.begin, default=None)


def left_behind(source: LogState, waiting: Sequence[PendingRange]) -> list[PendingRange]:
    """Ranges of another run that nobody will ask for any more."""
    return [given for given in waiting if not _same_run(source, given)]


def _same_run(source: LogState, given: PendingRange) -> bool:
    return source.instance == given.instance


def _is_behind(source: LogState, given: PendingRange) -> bool:
    return _same_run(source, given) and source.next_offset is not None and given.end <= source.next_offset
