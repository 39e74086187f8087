"""How far a tenant sees: never more than its keys and its vhost."""

import pytest

from app.domain import scopes
from app.domain.scopes import KeyRights, Reach, narrowest, reach

CS2 = frozenset({"cs2"})
FULL = KeyRights(frozenset({scopes.SETTLEMENTS}), CS2, False)
PAST = KeyRights(frozenset({scopes.SETTLEMENTS}), CS2, True)
OTHER_SCOPE = KeyRights(frozenset({scopes.MARKETS}), CS2, False)
OTHER_SPORT = KeyRights(frozenset({scopes.SETTLEMENTS}), frozenset({"soccer"}), False)


@pytest.mark.parametrize(
    ("keys", "amqp", "found"),
    [
        ([], False, Reach.NOTHING),
        ([OTHER_SCOPE, OTHER_SPORT], False, Reach.NOTHING),
        ([PAST, OTHER_SCOPE], False, Reach.FINISHED),
        ([PAST, FULL], False, Reach.EVERYTHING),
        ([], True, Reach.BOOKED),
        ([PAST], True, Reach.BOOKED),
        ([FULL], True, Reach.EVERYTHING),
    ],
)
def test_reach(keys: list[KeyRights], amqp: bool, found: Reach) -> None:
    assert reach(scopes.SETTLEMENTS, keys, amqp=amqp) is found


def test_two_scopes_reach_as_far_as_the_narrower() -> None:
    assert narrowest([Reach.EVERYTHING, Reach.FINISHED]) is Reach.FINISHED
    assert narrowest([Reach.BOOKED, Reach.EVERYTHING]) is Reach.BOOKED
    assert narrowest([Reach.FINISHED, Reach.NOTHING]) is Reach.NOTHING
