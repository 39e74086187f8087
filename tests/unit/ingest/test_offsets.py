"""Any order and any repeats of a log's ranges give the log."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from app.ingest import offsets
from app.ingest.batch import Batch
from app.store.log_state import LogState, PendingRange

MATCH = UUID(int=1)
LOG = b"".join(b"%02d" % number for number in range(50))


def a_batch(begin: int | None, end: int | None, instance: str = "run", name: str = "") -> Batch:
    body = LOG[begin:end]
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


def receive(batches: list[Batch]) -> tuple[bytes, list[PendingRange]]:
    source, waiting, read = LogState(match_id=MATCH), [], b""
    for batch in batches:
        given = offsets.as_pending(batch)
        assert given is not None
        if offsets.is_repeat(source, batch.id, given):
            continue
        waiting.append(given)
        while (next_one := offsets.next_in_line(source, waiting)) is not None or not source.instance:
            taken = next_one or given
            waiting.remove(taken)
            source, new = offsets.advance(source, taken)
            read += new
    return read, waiting


@given(deliveries())
def test_every_byte_is_read_once_and_in_order(batches: list[Batch]) -> None:
    read, waiting = receive(batches)
    assert read == LOG
    assert not waiting


@given(deliveries(), st.data())
def test_nothing_behind_a_hole_is_read(batches: list[Batch], data: st.DataObject) -> None:
    hole = data.draw(st.sampled_from(batches))
    read, _ = receive([batch for batch in batches if batch.begin != hole.begin])
    if hole.begin:
        assert read == LOG[: hole.begin]


def test_overlapping_ranges_give_their_new_part() -> None:
    assert receive([a_batch(0, 10), a_batch(4, 16), a_batch(2, 8), a_batch(12, 100)])[0] == LOG


def test_the_same_message_is_a_repeat_even_without_offsets() -> None:
    bare = a_batch(None, None, instance="", name="m1")
    assert offsets.as_pending(bare) is None
    assert not offsets.is_repeat(LogState(match_id=MATCH), bare.id, None)
    assert offsets.is_repeat(LogState(match_id=MATCH, last_message="m1"), bare.id, None)


def test_impossible_offsets_count_as_none() -> None:
    assert offsets.as_pending(a_batch(9, 3)) is None
    assert offsets.as_pending(a_batch(0, 3, instance="")) is None


def test_another_run_begins_where_it_likes_and_leaves_the_old_one_behind() -> None:
    source = LogState(match_id=MATCH, instance="old", next_offset=50)
    fresh = offsets.as_pending(a_batch(0, 10, instance="new"))
    late = offsets.as_pending(a_batch(60, 70, instance="old"))
    assert fresh and late
    assert not offsets.is_early(source, fresh)
    after, new = offsets.advance(source, fresh)
    assert (after.instance, after.next_offset, new) == ("new", 10, LOG[:10])
    assert offsets.left_behind(after, [late, fresh]) == [late]
    assert offsets.first_waiting(source, [late]) == late
