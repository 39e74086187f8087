"""Any order and any repeats of a log's ranges give the log."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.ingest import batches
from app.ingest.batches import Batch
from app.store.log_state import LogRange, LogState

MATCH = UUID(int=1)
LOG = b"".join(b"%02d" % number for number in range(50))


def a_batch(
    begin: int | None, end: int | None, instance: str = "run", name: str = "", log: bytes = LOG
) -> Batch:
    body = log[begin:end]
    return Batch(
        id=name or f"{instance}{begin}-{end}",
        match_id=MATCH,
        number=1,
        arrived_at=0,
        body=body,
        instance=instance,
        begin=begin,
        end=end,
    )


@st.composite
def deliveries(draw: st.DrawFn) -> list[Batch]:
    """The whole log in ranges, the first one first, the rest in any order and some of them twice."""
    cuts = sorted(draw(st.sets(st.integers(1, len(LOG) - 1), max_size=8)))
    edges = [0, *cuts, len(LOG)]
    ranges = [a_batch(begin, end) for begin, end in zip(edges, edges[1:], strict=False)]
    again = draw(st.lists(st.sampled_from(ranges), max_size=5))
    return [ranges[0], *draw(st.permutations(ranges[1:] + again))]


def receive(received: list[Batch]) -> tuple[bytes, list[LogRange]]:
    state, pending, read = LogState(match_id=MATCH), [], b""
    for batch in received:
        arrived = batches.range_of(batch)
        assert arrived is not None
        if batches.is_repeat(state, batch.id, arrived):
            continue
        if batches.begins_another_log(state, arrived):
            state, pending = batches.forget_log(state), []
        pending.append(arrived)
        while (next_one := batches.next_pending(state, pending)) is not None or not state.instance:
            log_range = next_one or arrived
            pending.remove(log_range)
            state, new = batches.advance(state, log_range)
            read += new
    return read, pending


@given(deliveries())
def test_every_byte_is_read_once_and_in_order(received: list[Batch]) -> None:
    read, pending = receive(received)
    assert read == LOG
    assert not pending


@given(deliveries(), st.data())
def test_every_byte_is_read_once_of_ranges_that_overlap(received: list[Batch], data: st.DataObject) -> None:
    """The position never moves back, whatever was pending within a range that was applied."""
    place = st.integers(0, len(LOG))
    for begin, end in data.draw(st.lists(st.tuples(place, place).map(sorted), max_size=5)):
        received.insert(data.draw(st.integers(1, len(received))), a_batch(begin, end))
    read, pending = receive(received)
    assert read == LOG
    assert not pending


@given(deliveries(), st.data())
def test_nothing_after_a_gap_is_read(received: list[Batch], data: st.DataObject) -> None:
    gap = data.draw(st.sampled_from(received))
    read, _ = receive([batch for batch in received if batch.begin != gap.begin])
    if gap.begin:
        assert read == LOG[: gap.begin]


def stamped_log(hour: int, line: bytes) -> bytes:
    return b"".join(b"L 01/19/2026 - %02d:00:%02d: %s\n" % (hour, second, line) for second in range(12))


#: No line of one ends where one of the other does: a range that follows is always of the present log.
FORMER, PRESENT = stamped_log(18, b"a line"), stamped_log(19, b"another line")


@st.composite
def in_order(draw: st.DrawFn, log: bytes) -> list[Batch]:
    """The log, cut at line ends."""
    ends = [at + 1 for at, byte in enumerate(log[:-1]) if byte == 10]
    edges = [0, *sorted(draw(st.sets(st.sampled_from(ends)))), len(log)]
    return [
        a_batch(begin, end, name=f"{hash(log)} {begin}", log=log)
        for begin, end in zip(edges, edges[1:], strict=False)
    ]


@given(in_order(FORMER), in_order(PRESENT), st.data())
def test_another_log_of_the_same_run_is_no_repeat(
    former: list[Batch], present: list[Batch], data: st.DataObject
) -> None:
    """A sender that counts from byte 0 again for each log file; and repeats ranges of the former one."""
    first = data.draw(st.integers(0, len(former) - 1), label="read from its range")
    again = data.draw(st.lists(st.sampled_from([*former, *present]), max_size=4))
    received = list(present)
    for each in again:
        least = present.index(each) + 1 if each in present else 1
        received.insert(data.draw(st.integers(least, len(received))), each)
    read, pending = receive([*former[first:], *received])
    begin = former[first].begin
    assert read == FORMER[begin:] + PRESENT
    assert not pending


def test_every_body_at_byte_0_is_a_log_of_its_own() -> None:
    """A sender that counts wrongly; two bodies have the time of one second, the last one comes twice."""
    bodies = [b"L 01/19/2026 - 18:00:%02d: line %d\n" % (second, second) for second in range(3)]
    bodies.insert(1, b"L 01/19/2026 - 18:00:00: another\n")
    received = [a_batch(0, len(body), name=str(number), log=body) for number, body in enumerate(bodies)]
    assert receive([*received, replace(received[-1], id="again")]) == (b"".join(bodies), [])


def test_a_clock_that_is_set_back_costs_no_range() -> None:
    """Also of ranges that are out of order."""
    back = PRESENT + stamped_log(18, b"another line")
    third = len(back) // 4
    ranges = [a_batch(begin, begin + third, log=back) for begin in range(0, len(back), third)]
    read, pending = receive([ranges[0], ranges[1], ranges[3], ranges[2]])
    assert (read, pending) == (back, [])


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"\n", b"\r\n"])
def test_what_comes_before_the_first_line_hides_no_other_log(before: bytes) -> None:
    logs = [before + FORMER, before + PRESENT]
    received = [a_batch(0, len(log), name=str(number), log=log) for number, log in enumerate(logs)]
    assert receive(received) == (b"".join(logs), [])


def test_the_byte_0_that_comes_late_is_of_the_same_log() -> None:
    """Where the log was read from a later range on."""
    whole = a_batch(0, len(PRESENT), log=PRESENT)
    end = len(PRESENT) // 12 * 6
    late, first = a_batch(0, end, log=PRESENT), a_batch(end, len(PRESENT), log=PRESENT)
    state, _ = batches.advance(LogState(match_id=MATCH), ranged(first))
    for batch in (late, whole):
        assert not batches.begins_another_log(state, ranged(batch))
        assert batches.is_repeat(state, "m", ranged(batch))


def ranged(batch: Batch) -> LogRange:
    found = batches.range_of(batch)
    assert found is not None
    return found


def test_overlapping_ranges_give_their_new_part() -> None:
    assert receive([a_batch(0, 10), a_batch(4, 16), a_batch(2, 8), a_batch(12, 100)])[0] == LOG


def test_the_same_message_is_a_repeat_even_without_offsets() -> None:
    bare = a_batch(None, None, instance="", name="m1")
    assert batches.range_of(bare) is None
    assert not batches.is_repeat(LogState(match_id=MATCH), bare.id, None)
    assert batches.is_repeat(LogState(match_id=MATCH, last_message_id="m1"), bare.id, None)


def test_impossible_offsets_count_as_none() -> None:
    assert batches.range_of(a_batch(9, 3)) is None
    assert batches.range_of(a_batch(0, 3, instance="")) is None


def test_another_run_begins_anywhere_and_makes_the_old_one_obsolete() -> None:
    state = LogState(match_id=MATCH, instance="old", next_offset=50)
    fresh = batches.range_of(a_batch(0, 10, instance="new"))
    late = batches.range_of(a_batch(60, 70, instance="old"))
    assert fresh and late
    assert not batches.is_early(state, fresh)
    after, new = batches.advance(state, fresh)
    assert (after.instance, after.next_offset, new) == ("new", 10, LOG[:10])
    assert batches.obsolete(after, [late, fresh]) == [late]
    assert batches.first_pending(state, [late]) == late
