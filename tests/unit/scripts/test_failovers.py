"""What the drill of fail-overs counts in what it received, and when it is content."""

import msgspec
import pytest
from msgspec.structs import replace

from scripts.clustering.failovers import Outcome, by_number
from scripts.lab.evidence import Delivery

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


def test_a_number_has_all_live_messages_that_came_with_it() -> None:
    one, other = (Delivery(1.0, 1, "odds_change", "m", 1, 7, 0, "", body) for body in (b"a", b"b"))
    replayed, alive = replace(one, request="17"), replace(one, number=0)
    assert by_number([one, replace(one, number=8), other, replayed, alive]) == {7: [b"a", b"b"], 8: [b"a"]}


def test_what_was_lost_and_told_is_right() -> None:
    assert RIGHT.is_right


@pytest.mark.parametrize(
    "wrong",
    [{"synchronous": True}, {"named": False}, {"contradicting": 1}, {"invented": 1}, {"equal": None}],
    ids=str,
)
def test_anything_else_is_not(wrong: dict[str, object]) -> None:
    assert not msgspec.structs.replace(RIGHT, **wrong).is_right
