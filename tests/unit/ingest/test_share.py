"""How the living deal the queues out among themselves."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from app.ingest.queues import PARTITIONS
from app.ingest.share import Share

NAMES = st.sets(st.text(min_size=1, max_size=8), min_size=1, max_size=12)


def kept(share: Share) -> list[int]:
    return [queue for queue in range(PARTITIONS) if not share.gives_up(queue)]


@given(NAMES)
def test_every_queue_is_one_workers_and_nobody_has_two_more_than_another(names: set[str]) -> None:
    shares = [Share(name) for name in names]
    for share in shares:
        share.heed(names - {share.name})  # whether it has heard of its own beat is the same
    dealt = [kept(share) for share in shares]
    assert Counter(queue for each in dealt for queue in each) == Counter(range(PARTITIONS))
    sizes = [len(each) for each in dealt]
    assert max(sizes) - min(sizes) <= 1


def test_a_turn_is_given_up_once_until_the_living_are_counted_again() -> None:
    share = Share("b")
    assert kept(share) == list(range(PARTITIONS))
    share.heed(["a", "b"])
    assert kept(share) == [1, 3, 5, 7]
    assert kept(share) == list(range(PARTITIONS))
    share.heed(["a", "b"])
    assert kept(share) == [1, 3, 5, 7]
    share.heed(["b"])
    assert kept(share) == list(range(PARTITIONS))
