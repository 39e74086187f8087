"""The scope table of the interface, group by group."""

import pytest

from app.domain import scopes
from app.wire.fields import Group, groups


@pytest.mark.parametrize(
    ("scope", "opened"),
    [
        (scopes.LIST, {Group.BASIC}),
        (scopes.READ, {Group.BASIC, Group.READ}),
        (scopes.DETAIL, {Group.DETAIL}),
        (scopes.MARKETS, {Group.MARKETS}),
        (scopes.SCOREBOARD, {Group.SCOREBOARD}),
        (scopes.INTERNALS, {Group.INTERNALS}),
        (scopes.SETTLEMENTS, set()),
    ],
)
def test_what_one_scope_opens(scope: str, opened: set[Group]) -> None:
    assert groups(frozenset({scope})) == opened


def test_an_operator_sees_everything() -> None:
    assert groups(scopes.BUNDLES[scopes.OPERATOR_BUNDLE]) == set(Group)
