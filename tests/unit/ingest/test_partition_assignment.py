"""How the living deal the queues out among themselves."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from app.ingest.partition_assignment import PartitionAssignment
from app.ingest.queues import PARTITIONS

NAMES = st.sets(st.text(min_size=1, max_size=8), min_size=1, max_size=12)


def kept(assignment: PartitionAssignment) -> list[int]:
    return [queue for queue in range(PARTITIONS) if not assignment.should_yield(queue)]


@given(NAMES)
def test_every_queue_is_one_workers_and_nobody_has_two_more_than_another(names: set[str]) -> None:
    assignments = [PartitionAssignment(name) for name in names]
    for assignment in assignments:
        assignment.rebalance(names - {assignment.name})  # whether it has heard of its own beat is the same
    dealt = [kept(assignment) for assignment in assignments]
    assert Counter(queue for each in dealt for queue in each) == Counter(range(PARTITIONS))
    sizes = [len(each) for each in dealt]
    assert max(sizes) - min(sizes) <= 1


def test_a_turn_is_given_up_once_until_the_living_are_counted_again() -> None:
    assignment = PartitionAssignment("b")
    assert kept(assignment) == list(range(PARTITIONS))
    assignment.rebalance(["a", "b"])
    assert kept(assignment) == [1, 3, 5, 7]
    assert kept(assignment) == list(range(PARTITIONS))
    assignment.rebalance(["a", "b"])
    assert kept(assignment) == [1, 3, 5, 7]
    assignment.rebalance(["b"])
    assert kept(assignment) == list(range(PARTITIONS))
