"""What the drill of fail-overs reads from its recorder, and when it is content."""

import msgspec
import pytest

from scripts.clustering.failovers import Outcome, read_numbers

RIGHT = Outcome(
    synchronous=False,
    received=100,
    lost=7,
    repeated=3,
    contradicting=0,
    named=True,
    invented=0,
    equal=20.5,
    silence=12.0,
    alert="commits are lost",
)


def test_a_number_has_all_that_was_received_with_it() -> None:
    one, other = "a" * 64, "b" * 64
    output = f"2026-11-25 [warning] connecting again\n7 {one}\n8 {one}\n7 {other}\nNone {one}\n9 {one[:20]}"
    assert read_numbers(output) == {7: [one, other], 8: [one]}


def test_what_was_lost_and_told_is_right() -> None:
    assert RIGHT.is_right


@pytest.mark.parametrize(
    "wrong",
    [{"synchronous": True}, {"named": False}, {"contradicting": 1}, {"invented": 1}, {"equal": None}],
    ids=str,
)
def test_anything_else_is_not(wrong: dict[str, object]) -> None:
    assert not msgspec.structs.replace(RIGHT, **wrong).is_right
