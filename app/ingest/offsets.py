"""The place of a batch in its sender's log, pure.

Within one run of the sender (`instance`) a range begins where the last one ended. The same bytes again
are a repeat; a later range waits for the missing one. So does the first range of another run that does
not begin that run's log: the bytes before it may be in flight. Batches of a sender without offsets are
applied in order of arrival; pending ranges of an earlier run are lost.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from app.ingest.batch import Batch
from app.store.log_state import LogState, PendingRange


def as_pending(batch: Batch) -> PendingRange | None:
    """The batch as a range, or None when its sender sends no offsets (or impossible ones)."""
    if not batch.instance or batch.begin is None or batch.end is None or not 0 <= batch.begin <= batch.end:
        return None
    return PendingRange(batch.instance, batch.begin, batch.end, batch.body, batch.arrived_at)


def is_repeat(source: LogState, message: str, ranged: PendingRange | None) -> bool:
    """Whether the whole batch with that id has been applied already; `ranged` is its range."""
    return message == source.last_message or (ranged is not None and _is_behind(source, ranged))


def follow(source: LogState, ranged: PendingRange) -> LogState:
    """The source; if the range belongs to a new run, it now waits for that run's first byte."""
    if _same_run(source, ranged) or not ranged.begin:
        return source
    return replace(source, instance=ranged.instance, next_offset=0)


def is_early(source: LogState, ranged: PendingRange) -> bool:
    """Whether bytes before it are still missing."""
    return _same_run(source, ranged) and source.next_offset is not None and ranged.begin > source.next_offset


def advance(source: LogState, ranged: PendingRange) -> tuple[LogState, bytes]:
    """The source after this range, and the bytes of the range that are new."""
    new = ranged.body
    if _same_run(source, ranged) and source.next_offset is not None and ranged.begin < source.next_offset:
        new = ranged.body[-(ranged.end - source.next_offset) :] if ranged.end > source.next_offset else b""
    return replace(source, instance=ranged.instance, next_offset=ranged.end), new


def next_in_line(source: LogState, pending: Sequence[PendingRange]) -> PendingRange | None:
    """The pending range that is next, or None."""
    ready = (ranged for ranged in pending if _same_run(source, ranged) and not is_early(source, ranged))
    return min(ready, key=lambda ranged: ranged.begin, default=None)


def first_waiting(source: LogState, pending: Sequence[PendingRange]) -> PendingRange | None:
    """The earliest pending range of the present run: where to continue after a gap."""
    present = (ranged for ranged in pending if _same_run(source, ranged))
    return min(present, key=lambda ranged: ranged.begin, default=None)


def left_behind(source: LogState, pending: Sequence[PendingRange]) -> list[PendingRange]:
    """PendingRange ranges of an earlier run, which will never be applied."""
    return [ranged for ranged in pending if not _same_run(source, ranged)]


def _same_run(source: LogState, ranged: PendingRange) -> bool:
    return source.instance == ranged.instance


def _is_behind(source: LogState, ranged: PendingRange) -> bool:
    return _same_run(source, ranged) and source.next_offset is not None and ranged.end <= source.next_offset
