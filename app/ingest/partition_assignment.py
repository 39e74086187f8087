"""Which internal queues a worker should consume, so that several workers share them and none only stands by.

A queue has one active consumer at the broker: the first, until it goes. So every worker consumes from every
queue, which makes it a stand-by for all the others, and yields its turn in a queue that is assigned to
another living worker by moving to the end of the queue's consumers. If workers disagree for a moment about
the assignment, a queue moves once more: one batch at a time, in order, does not depend on it.

Consumer priorities (`x-priority`) alone would move no queue: the broker (3.10) regards them only when the
active consumer goes, and they are fixed when a consumer subscribes.
"""

from collections.abc import Iterable

from app.ingest.queues import PARTITIONS


class PartitionAssignment:
    """The queues that worker `name` should leave to others, as of the last `rebalance`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._to_yield: set[int] = set()  #: assigned to others by the last `rebalance`, and not yielded since

    def rebalance(self, living: Iterable[str]) -> None:
        """Assign the queues to all living workers, this one included, in turn."""
        workers = sorted({*living, self.name})
        self._to_yield = {queue for queue in range(PARTITIONS) if workers[queue % len(workers)] != self.name}

    def should_yield(self, queue: int) -> bool:
        """Whether to yield the turn in `queue` now: once for each `rebalance` that assigned it to another."""
        if queue not in self._to_yield:
            return False
        self._to_yield.discard(queue)
        return True
