"""The place of a batch in its sender's log, pure.

Within one run of the sender (`instance`) each range begins where the one before it ended. A range that was
applied already is a repeat; one that begins later waits for the bytes between them. The first range of a new
run waits, too, unless it begins at byte 0: the bytes before it may be on their way. Batches of a sender
without offsets are applied in order of arrival; pending ranges of an earlier run are lost.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from app.ingest.batch import Batch
from app.store.log_state import LogRange, LogState


def chunk_of(batch: Batch) -> LogRange | None:
    """The batch as a range, or None when its sender sends no offsets (or impossible ones)."""
    if not batch.instance or batch.begin is None or batch.end is None or not 0 <= batch.begin <= batch.end:
        return None
    return LogRange(batch.instance, batch.begin, batch.end, batch.body, batch.arrived_at)


def is_repeat(state: LogState, message: str, chunk: LogRange | None) -> bool:
    """Whether the whole batch with that id has been applied already; `chunk` is its range of bytes."""
    return message == state.last_message or (chunk is not None and _is_behind(state, chunk))


def follow(state: LogState, chunk: LogRange) -> LogState:
    """The state; if the range belongs to a new run, it now waits for that run's first byte."""
    if _same_run(state, chunk) or not chunk.begin:
        return state
    return replace(state, instance=chunk.instance, next_offset=0)


def is_early(state: LogState, chunk: LogRange) -> bool:
    """Whether bytes before it are still missing."""
    return _same_run(state, chunk) and state.next_offset is not None and chunk.begin > state.next_offset


def advance(state: LogState, chunk: LogRange) -> tuple[LogState, bytes]:
    """The state after this range, and the bytes of the range that are new."""
    new = chunk.body
    if _same_run(state, chunk) and state.next_offset is not None and chunk.begin < state.next_offset:
        new = chunk.body[-(chunk.end - state.next_offset) :] if chunk.end > state.next_offset else b""
    return replace(state, instance=chunk.instance, next_offset=chunk.end), new


def next_pending(state: LogState, pending: Sequence[LogRange]) -> LogRange | None:
    """The pending range that is next, or None."""
    ready = (chunk for chunk in pending if _same_run(state, chunk) and not is_early(state, chunk))
    return min(ready, key=lambda chunk: chunk.begin, default=None)


def first_pending(state: LogState, pending: Sequence[LogRange]) -> LogRange | None:
    """The earliest pending range of the present run: where to continue after a gap."""
    present = (chunk for chunk in pending if _same_run(state, chunk))
    return min(present, key=lambda chunk: chunk.begin, default=None)


def obsolete(state: LogState, pending: Sequence[LogRange]) -> list[LogRange]:
    """Pending ranges of an earlier run, which will never be applied."""
    return [chunk for chunk in pending if not _same_run(state, chunk)]


def _same_run(state: LogState, chunk: LogRange) -> bool:
    return state.instance == chunk.instance


def _is_behind(state: LogState, chunk: LogRange) -> bool:
    return _same_run(state, chunk) and state.next_offset is not None and chunk.end <= state.next_offset
