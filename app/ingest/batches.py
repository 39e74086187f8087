"""Batches of log lines, as the sink queues them, and the place of each in its sender's log; pure.

Within one run of the sender (`instance`) each range of bytes begins where the one before it ended. A range
that was applied already is a repeat; one that begins later waits for the bytes between them. The first range
of a new run waits, too, unless it begins at byte 0: the bytes before it may be on their way. Batches of a
sender without offsets are applied in order of arrival; pending ranges of an earlier run are lost.

A sender may begin another log at byte 0 under the same name. Its ranges would all be repeats, so the first
line shows which log such a range is of, and the time of that line, by the sender's clock, which came first. A
range that does not follow, and is earlier than the present log, is of the one before.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any
from uuid import UUID

import msgspec
from msgspec.structs import replace

from app.ingest.cs2log.reader import split_timestamp
from app.kit.logging import get_logger
from app.store.log_state import LogRange, LogState

BEGUN = -1  #: the offsets of the beginning of a line, which waits for its rest
_SLACK_BYTES = 1024
_MAX_BYTES = 200  #: of a sender's text in an AMQP header; all headers must fit into one frame
_MAX_MAP = 120  #: characters of a map's name
_MAX_OFFSET = 2**63 - 1
_MAX_LINE = 4_096  #: bytes, more than a server writes
log = get_logger(__name__)


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines of a match's log, as they were received.

    `id` is the message's; `number` is the match's and determines the queue; `arrived_at` is Unix ms.
    `begin` and `end` are byte offsets in the log of the sender's run `instance`; both are None for a sender
    without offsets, which sends in order. `address`, `unique` and `map` come from the server's headers,
    `peer` is the address that it sends from; "" where unknown.
    """

    id: str
    match_id: UUID
    number: int
    arrived_at: int
    body: bytes
    instance: str = ""
    address: str = ""
    unique: str = ""
    peer: str = ""
    map: str = ""
    begin: int | None = None
    end: int | None = None


def headers(batch: Batch) -> dict[str, Any]:
    """The AMQP headers of a batch."""
    fields = {
        "match_id": str(batch.match_id),
        "number": batch.number,
        "arrived_at": batch.arrived_at,
        "instance": _bounded(batch.instance),
        "address": _bounded(batch.address),
        "unique": _bounded(batch.unique),
        "peer": batch.peer,
        "map": batch.map[:_MAX_MAP],
        "begin": batch.begin,
        "end": batch.end,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _bounded(name: str) -> str:
    """A name that is only compared: itself, or its digest if it is too long."""
    written = name.encode(errors="surrogateescape")
    return name if len(written) <= _MAX_BYTES else f"blake2b:{blake2b(written, digest_size=32).hexdigest()}"


def from_message(message_id: str, headers: Mapping[str, Any], body: bytes) -> Batch:
    """The batch of a message; raises `msgspec.ValidationError` when it is none."""
    return msgspec.convert({**headers, "id": message_id, "body": body}, Batch, strict=False)


def stated_range(begin: int | None, end: int | None, size: int) -> tuple[int, int] | tuple[None, None]:
    """The byte range in the headers of a body of `size` bytes, or none when it is implausible: one absurd end
    would make every later batch look like a repeat. Senders may count line ends differently."""
    if begin is None or end is None:
        return None, None
    if 0 <= begin <= end <= _MAX_OFFSET and end - begin <= 2 * size + _SLACK_BYTES:
        return begin, end
    log.warning("implausible offsets of a log batch ignored", begin=begin, end=end, size=size)
    return None, None


def range_of(batch: Batch) -> LogRange | None:
    """The batch as a range, or None when its sender sends no offsets (or impossible ones)."""
    if not batch.instance or batch.begin is None or batch.end is None or not 0 <= batch.begin <= batch.end:
        return None
    return LogRange(batch.instance, batch.begin, batch.end, batch.body, batch.arrived_at)


def is_repeat(state: LogState, message: str, log_range: LogRange | None) -> bool:
    """Whether the whole batch with that id has been applied already; `log_range` is its range of bytes."""
    if message == state.last_message_id or log_range is None:
        return message == state.last_message_id
    if begins_another_log(state, log_range):
        return False
    return _is_behind(state, log_range) or _is_of_former_log(state, log_range)


def begins_another_log(state: LogState, log_range: LogRange) -> bool:
    """Whether the range begins another log than the one that its sender has sent so far."""
    if log_range.begin or not _same_run(state, log_range) or not state.log_began:
        return False
    time, line = _first_line(log_range)
    if time is None or time < state.log_began:
        return False
    return line != state.first_line if state.first_line else time > state.log_began


def _is_of_former_log(state: LogState, log_range: LogRange) -> bool:
    """Whether the range does not follow what was applied, and is earlier than all of it: of the log before.
    Where there was none, a clock was set back."""
    if not state.another_log or not _same_run(state, log_range) or log_range.begin == state.next_offset:
        return False
    time, _ = _first_line(log_range)
    return time is not None and time < state.log_began


def forget_log(state: LogState) -> LogState:
    """The state before the first byte of another log of the same run."""
    return replace(state, next_offset=0, log_began=0, first_line="", another_log=True)


def await_start_of_run(state: LogState, log_range: LogRange) -> LogState:
    """The state; if the range belongs to a new run and does not begin it, it waits for that run's byte 0."""
    if _same_run(state, log_range) or not log_range.begin:
        return state
    return state.of_another_run(log_range.instance, 0)


def is_early(state: LogState, log_range: LogRange) -> bool:
    """Whether bytes before it are still missing."""
    next_offset = _next_offset(state, log_range)
    return next_offset is not None and log_range.begin > next_offset


def advance(state: LogState, log_range: LogRange) -> tuple[LogState, bytes]:
    """The state after this range, and the bytes of the range that are new."""
    if not _same_run(state, log_range):
        state = state.of_another_run(log_range.instance, None)
    elif begins_another_log(state, log_range):
        state = forget_log(state)
    next_offset, new = state.next_offset, log_range.body
    if next_offset is not None and log_range.begin < next_offset:
        new = new[-(log_range.end - next_offset) :] if log_range.end > next_offset else b""
    end = max(log_range.end, next_offset or 0)  # a pending range may lie within one that was applied
    if not state.log_began:
        time, line = _first_line(log_range)
        state = replace(state, log_began=time or 0, first_line="" if log_range.begin else line)
    return replace(state, next_offset=end), new


def next_pending(state: LogState, pending: Sequence[LogRange]) -> LogRange | None:
    """The pending range that is next, or None."""
    ready = (each for each in _ranges(state, pending) if not is_early(state, each))
    return min(ready, key=lambda each: each.begin, default=None)


def first_pending(state: LogState, pending: Sequence[LogRange]) -> LogRange | None:
    """The earliest pending range of the present run: where to continue after a gap."""
    return min(_ranges(state, pending), key=lambda each: each.begin, default=None)


def begun_line(state: LogState, pending: Sequence[LogRange]) -> LogRange | None:
    """The beginning of a line with which the last body of the present run ended, or None."""
    return next((each for each in pending if each.begin == BEGUN and _same_run(state, each)), None)


def obsolete(state: LogState, pending: Sequence[LogRange]) -> list[LogRange]:
    """Pending ranges of an earlier run, which will never be applied."""
    return [each for each in pending if not _same_run(state, each)]


def _ranges(state: LogState, pending: Sequence[LogRange]) -> list[LogRange]:
    """The pending ranges of the present run."""
    return [each for each in pending if each.begin != BEGUN and _same_run(state, each)]


def _first_line(log_range: LogRange) -> tuple[int | None, str]:
    """When the range's first line was written, by the sender's clock (ms; None where it has no timestamp),
    and a digest of it ("" where the range ends within it)."""
    line, end, _ = log_range.body[:_MAX_LINE].lstrip(b"\xef\xbb\xbf\r\n \t").partition(b"\n")
    found = split_timestamp(line.decode("utf-8", "replace").rstrip("\r"))
    return found and found[0], blake2b(line, digest_size=8).hexdigest() if end else ""


def _same_run(state: LogState, log_range: LogRange) -> bool:
    return state.instance == log_range.instance


def _next_offset(state: LogState, log_range: LogRange) -> int | None:
    """The first byte not yet applied of the range's run; None where that is not known."""
    return state.next_offset if _same_run(state, log_range) else None


def _is_behind(state: LogState, log_range: LogRange) -> bool:
    next_offset = _next_offset(state, log_range)
    return next_offset is not None and log_range.end <= next_offset
