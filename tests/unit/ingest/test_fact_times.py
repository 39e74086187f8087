"""Times of a batch lie after the batch before it, in the order of its lines."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.facts import FreezeStarted
from app.ingest.log_facts import fit_between


@given(st.lists(st.integers(0, 5000), max_size=20), st.integers(0, 5000), st.integers(0, 5000))
def test_order_is_preserved_and_nothing_is_earlier_than_the_batch_before(
    times: list[int], after: int, more: int
) -> None:
    until = max([after, *times]) + more
    facts = [FreezeStarted(at=at) for at in sorted(times)]
    pressed = [fact.at for fact in fit_between(facts, after, until)]
    assert pressed == sorted(pressed)
    assert all(after <= at <= until for at in pressed)


def test_a_batch_at_the_pace_of_play_stays_as_it_is() -> None:
    facts = [FreezeStarted(at=at) for at in (1000, 1500, 2000)]
    assert fit_between(facts, 1000, 2000) == facts


def test_a_batch_of_many_seconds_is_pressed_in_proportion() -> None:
    facts = [FreezeStarted(at=at) for at in (0, 10_000, 20_000)]
    assert [fact.at for fact in fit_between(facts, 19_000, 20_000)] == [19_000, 19_500, 20_000]
