"""The assignment of queues to living workers."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from app.ingest.consumer import PartitionAssignment
from app.ingest.queues import PARTITIONS

NAMES = st.sets(st.text(min_size=1, max_size=8), min_size=1, max_size=12)


def assigned(assignment: PartitionAssignment) -> list[int]:
    return [queue for queue in range(PARTITIONS) if not assignment.should_yield(queue)]


@given(NAMES)
def test_every_queue_has_one_worker_and_the_counts_differ_by_one_at_most(names: set[str]) -> None:
    assignments = [PartitionAssignment(name) for name in names]
    for assignment in assignments:
        assignment.rebalance(names - {assignment.name})  # its own heartbeat makes no difference
    dealt = [assigned(assignment) for assignment in assignments]
    assert Counter(queue for each in dealt for queue in each) == Counter(range(PARTITIONS))
    sizes = [len(each) for each in dealt]
    assert max(sizes) - min(sizes) <= 1


def test_a_queue_is_yielded_once_per_rebalance() -> None:
    assignment = PartitionAssignment("b")
    assert assigned(assignment) == list(range(PARTITIONS))
    assignment.rebalance(["a", "b"])
    assert assigned(assignment) == [1, 3, 5, 7]
    assert assigned(assignment) == list(range(PARTITIONS))
    assignment.rebalance(["a", "b"])
    assert assigned(assignment) == [1, 3, 5, 7]
    assignment.rebalance(["b"])
    assert assigned(assignment) == list(range(PARTITIONS))
