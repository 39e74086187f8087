"""When a tenant is notified that its queues lose messages: after the last loss always, seldom in between."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from app.amqp.alive import slow
from app.amqp.loss_notice import OverflowNotices
from app.broker.management import QueueCounts

TICK, QUIET = 10, 60  #: seconds between two looks, as between two `alive`, and between two notices


def notices(losses: Sequence[int], slow: bool = False) -> list[int]:
    """At which looks, ten seconds apart, the tenant is notified."""
    overflow = OverflowNotices(TICK)
    return [at for at, lost in enumerate(losses) if overflow.is_due(lost, slow, at * TICK)]


def test_a_short_overflow_is_notified_once_and_at_once() -> None:
    assert notices([0, 0, 7, *[0] * 20]) == [2]


def test_a_long_one_is_notified_at_its_beginning_and_after_its_end() -> None:
    assert notices([0, *[100] * 30, *[0] * 20]) == [1, 31]


def test_a_slow_consumer_is_notified_as_long_as_it_loses_messages() -> None:
    assert notices([1] * 20, slow=True) == [0, 6, 12, 18]


@given(st.lists(st.integers(0, 1), max_size=80), st.booleans())
def test_the_last_loss_is_always_followed_by_a_notice_and_notices_keep_their_distance(
    losses: list[int], slow: bool
) -> None:
    quiet = QUIET // TICK
    notified = notices([*losses, *[0] * quiet], slow)
    lost = [at for at, each in enumerate(losses) if each]
    assert bool(notified) == bool(lost)
    if lost:
        assert notified[0] == lost[0] and notified[-1] >= lost[-1]
    assert all(later - earlier >= quiet for earlier, later in zip(notified, notified[1:], strict=False))


def test_only_a_consumer_is_slow_not_a_queue_that_nobody_reads() -> None:
    assert slow([QueueCounts("acme", "q", 15_000, 0, consumers=1)])
    assert not slow(
        [QueueCounts("acme", "q", 20_000, 0, consumers=0), QueueCounts("acme", "r", 10, 90, consumers=2)]
    )
