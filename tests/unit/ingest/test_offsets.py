"""Any order and any repeats of a log's ranges give the log."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from app.ingest import offsets
from app.ingest.batch import Batch
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
def deliveries(draw: st.DrawFn, log: bytes = LOG, first: int = 1) -> list[Batch]:
    """The whole log in ranges, the first one first, the rest in any order and some of them twice. The first
    range has `first` bytes at least."""
    cuts = sorted(draw(st.sets(st.integers(first, len(log) - 1), max_size=8)))
    edges = [0, *cuts, len(log)]
    ranges = [a_batch(begin, end, log=log) for begin, end in zip(edges, edges[1:], strict=False)]
    again = draw(st.lists(st.sampled_from(ranges), max_size=5))
    return [ranges[0], *draw(st.permutations(ranges[1:] + again))]


def receive(batches: list[Batch]) -> tuple[bytes, list[LogRange]]:
    state, pending, read = LogState(match_id=MATCH), [], b""
    for batch in batches:
        arrived = offsets.range_of(batch)
        assert arrived is not None
        if offsets.is_repeat(state, batch.id, arrived):
            continue
        if offsets.begins_another_log(state, arrived):
            state, pending = offsets.forget_log(state), []
        pending.append(arrived)
        while (next_one := offsets.next_pending(state, pending)) is not None or not state.instance:
            log_range = next_one or arrived
            pending.remove(log_range)
            state, new = offsets.advance(state, log_range)
            read += new
    return read, pending


@given(deliveries())
def test_every_byte_is_read_once_and_in_order(batches: list[Batch]) -> None:
    read, pending = receive(batches)
    assert read == LOG
    assert not pending


@given(deliveries(), st.data())
def test_every_byte_is_read_once_of_ranges_that_overlap(batches: list[Batch], data: st.DataObject) -> None:
    """The position never moves back, whatever was pending within a range that was applied."""
    place = st.integers(0, len(LOG))
    for begin, end in data.draw(st.lists(st.tuples(place, place).map(sorted), max_size=5)):
        batches.insert(data.draw(st.integers(1, len(batches))), a_batch(begin, end))
    read, pending = receive(batches)
    assert read == LOG
    assert not pending


@given(deliveries(), st.data())
def test_nothing_after_a_gap_is_read(batches: list[Batch], data: st.DataObject) -> None:
    gap = data.draw(st.sampled_from(batches))
    read, _ = receive([batch for batch in batches if batch.begin != gap.begin])
    if gap.begin:
        assert read == LOG[: gap.begin]


@given(*[deliveries(b"began at %d\n" % hour + LOG, first=len(b"began at 8\n")) for hour in (8, 9)])
def test_another_log_of_the_same_run_is_no_repeat(first: list[Batch], second: list[Batch]) -> None:
    """A sender that counts from byte 0 again for each log file."""
    read, pending = receive([*first, *second])
    assert read == b"began at 8\n" + LOG + b"began at 9\n" + LOG
    assert not pending


def test_overlapping_ranges_give_their_new_part() -> None:
    assert receive([a_batch(0, 10), a_batch(4, 16), a_batch(2, 8), a_batch(12, 100)])[0] == LOG


def test_the_same_message_is_a_repeat_even_without_offsets() -> None:
    bare = a_batch(None, None, instance="", name="m1")
    assert offsets.range_of(bare) is None
    assert not offsets.is_repeat(LogState(match_id=MATCH), bare.id, None)
    assert offsets.is_repeat(LogState(match_id=MATCH, last_message_id="m1"), bare.id, None)


def test_impossible_offsets_count_as_none() -> None:
    assert offsets.range_of(a_batch(9, 3)) is None
    assert offsets.range_of(a_batch(0, 3, instance="")) is None


def test_another_run_begins_anywhere_and_makes_the_old_one_obsolete() -> None:
    state = LogState(match_id=MATCH, instance="old", next_offset=50)
    fresh = offsets.range_of(a_batch(0, 10, instance="new"))
    late = offsets.range_of(a_batch(60, 70, instance="old"))
    assert fresh and late
    assert not offsets.is_early(state, fresh)
    after, new = offsets.advance(state, fresh)
    assert (after.instance, after.next_offset, new) == ("new", 10, LOG[:10])
    assert offsets.obsolete(after, [late, fresh]) == [late]
    assert offsets.first_pending(state, [late]) == late
