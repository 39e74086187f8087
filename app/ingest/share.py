"""One worker's share of the internal queues, so that several work and none only stands by.

The broker has one active consumer a queue: whoever came first, until it goes. So every worker consumes
from every queue, which makes it a stand-by for all the others, and gives up its turn in a queue that another
living worker should work: it goes to the tail of those who wait. Should the living disagree for a moment on
whose turn it is, a queue changes hands once more: one at a time, in order, does not depend on it.
"""

from collections.abc import Iterable

from app.ingest.queues import PARTITIONS


class Share:
    """The queues that worker `name` should leave to others, as often as it hears who lives."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._others: set[int] = set()

    def heed(self, living: Iterable[str]) -> None:
        """Deal the queues out to all workers of whom is known that they live, and this one."""
        workers = sorted({*living, self.name})
        self._others = {queue for queue in range(PARTITIONS) if workers[queue % len(workers)] != self.name}

    def gives_up(self, queue: int) -> bool:
        """Whether to give up the turn in `queue` now: once each time that `heed` found it another's."""
        if queue not in self._others:
            return False
        self._others.discard(queue)
        return True
